import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { afterAll, expect, inject, onTestFinished } from 'vitest'

export interface OpenPageOptions extends BrowserContextOptions {
  /** The user for the credentials of each request. The password equals the name. */
  readonly user?: string
  /** Console errors that the test expects. */
  readonly tolerates?: RegExp
  /** Set for tests that measure the page's memory. */
  readonly ownProcess?: boolean
}

export type OpenPage = (url: string, options?: OpenPageOptions) => Promise<Page>

/** Long enough for a busy machine. */
const HANGS_AFTER_MS = 60_000

let connected: Promise<Browser> | undefined

async function connect(): Promise<Browser> {
  const response = await fetch(inject('browserUrl'))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return chromium.connect(text)
}

const PROFILE: BrowserContextOptions = {
  // Independent of the language of the machine.
  locale: 'en-US',
  timezoneId: 'UTC',
  // Animations would be redrawn all the time, without a graphics card.
  reducedMotion: 'reduce',
}

/** A context. `isTaken` is true if a page of the current test uses it. */
interface Profile {
  readonly context: BrowserContext
  isTaken: boolean
}

/** The worker's profiles by their options. A new context costs as much as half of a page load. */
const profiles = new Map<string, Profile[]>()

/** Runs in each document before its scripts. `sessionStorage` is new for each page, but stays after a reload. */
const START_EMPTY = `if (location.protocol === 'http:' && !sessionStorage.getItem('isStarted')) {
  localStorage.clear()
  sessionStorage.setItem('isStarted', 'yes')
}`

async function createContext(options: BrowserContextOptions): Promise<BrowserContext> {
  // Shared within the worker until it ends, because no test knows which file is the last.
  connected ??= connect()
  const browser = await connected
  return browser.newContext({ ...PROFILE, ...options })
}

/** Takes a free profile with these options, or creates one. */
async function takeProfile(options: BrowserContextOptions): Promise<Profile> {
  const key = JSON.stringify(options)
  const alike = profiles.get(key) ?? []
  profiles.set(key, alike)
  const free = alike.find(({ isTaken }) => !isTaken)
  if (free) {
    free.isTaken = true
    return free
  }
  const context = await createContext(options)
  await context.addInitScript(START_EMPTY)
  // Keeps the process of the pages running between tests.
  await context.newPage()
  const profile = { context, isTaken: true }
  alike.push(profile)
  return profile
}

/** Opens a page. The returned function closes it, and all pages that it has opened. */
async function newPage(
  options: BrowserContextOptions,
  isAlone: boolean,
): Promise<{ page: Page; close: () => Promise<void> }> {
  if (isAlone) {
    const context = await createContext(options)
    return { page: await context.newPage(), close: () => context.close() }
  }
  const profile = await takeProfile(options)
  const { context } = profile
  const close = async (): Promise<void> => {
    const [, ...pages] = context.pages()
    await Promise.all(pages.map((page) => page.close()))
    profile.isTaken = false
  }
  return { page: await context.newPage(), close }
}

interface OpenedPage {
  readonly page: Page
  readonly close: () => Promise<void>
  /** The errors that the page has logged or thrown. */
  readonly errors: string[]
}

/** Opens a blank page. */
async function openBlank(options: OpenPageOptions): Promise<OpenedPage> {
  const { user, tolerates: _, viewport, ownProcess = false, ...rest } = options
  const headers = user !== undefined && {
    // Playwright's own credentials would intercept each request, and disable the cache.
    extraHTTPHeaders: { authorization: `Basic ${btoa(`${user}:${user}`)}` },
  }
  const { page, close } = await newPage({ ...headers, ...rest }, ownProcess)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`)
  })
  page.setDefaultTimeout(HANGS_AFTER_MS)
  if (viewport) await page.setViewportSize(viewport)
  return { page, close, errors }
}

/** Fails the test if the page has logged an error that it does not tolerate. */
function expectNoErrors({ errors }: OpenedPage, { tolerates }: OpenPageOptions): void {
  const unexpected = errors.splice(0).filter((text) => !tolerates?.test(text))
  expect(unexpected, 'errors of the page').toEqual([])
}

/**
 * A page that is closed after the test. Its storage starts empty, and no other open page shares it. The test fails if
 * the page logs an error to the console or throws an uncaught error.
 */
export async function openPage(url: string, options: OpenPageOptions = {}): Promise<Page> {
  const opened = await openBlank(options)
  onTestFinished(async () => {
    await opened.close()
    expectNoErrors(opened, options)
  })
  if (url !== 'about:blank') await opened.page.goto(url)
  return opened.page
}

/** State outside of the address: preferences, typed text, paused updates, and the chart as a table. */
const STATE = `JSON.stringify([
  Object.entries(localStorage).filter(([key]) => key !== 'daybook.recent').toSorted(),
  document.querySelector('search input')?.value ?? '',
  document.querySelector('header')?.textContent.includes('Paused') ?? false,
  document.querySelector('.numbers table') !== null,
])`

/** Layers above and beside the list. Escape closes each of them. */
const LAYERS = '.panel, dialog[open], [role=dialog], [role=listbox], .picking, .line-field'

/** Parts that show the address before. */
const OLD = '[role=grid][aria-busy=true], .is-stale, .stale'

/** Shows another address of the audit page without loading it again, as Back and Forward do. */
async function showAddress(page: Page, url: string): Promise<void> {
  while ((await page.locator(LAYERS).count()) > 0) await page.keyboard.press('Escape')
  await page.mouse.move(0, 0)
  await page.evaluate(`new Promise((resolve) => {
    document.activeElement.blur()
    document.querySelector('#events')?.scrollTo(0, 0)
    history.pushState(null, '', ${JSON.stringify(url)})
    dispatchEvent(new PopStateEvent('popstate'))
    const settle = () => (document.querySelector('${OLD}') ? requestAnimationFrame(settle) : resolve())
    requestAnimationFrame(settle)
  })`)
}

/**
 * Opens pages like {@link openPage}, but keeps one for each user and place of a browser until the end of the test
 * file. The next test only changes the address, which takes a third of the time of a load. A page is not kept after a
 * failed test, or if the test leaves state outside of the address. Use {@link openPage} for a test that changes the
 * page itself, or has an invalid address or one without counts.
 */
export function keepPages(): OpenPage {
  const kept = new Map<string, OpenedPage & { readonly state: string }>()
  afterAll(() => Promise.all(Array.from(kept.values(), ({ close }) => close())))
  return async (url: string, options: OpenPageOptions = {}) => {
    const { tolerates: _, viewport = { width: 1280, height: 720 }, ...rest } = options
    const key = JSON.stringify([new URL(url).origin, rest])
    const last = kept.get(key)
    const opened = last ?? (await openBlank(options))
    const { page } = opened
    kept.delete(key)
    let state = last?.state
    onTestFinished(async ({ task }) => {
      const isClean = task.result?.state === 'pass' && (await page.evaluate(STATE)) === state
      if (state !== undefined && isClean) kept.set(key, { ...opened, state })
      else await opened.close()
      expectNoErrors(opened, options)
    })
    if (viewport) await page.setViewportSize(viewport)
    if (last) await showAddress(page, url)
    else await page.goto(url)
    state ??= await page.evaluate<string>(STATE)
    return page
  }
}
