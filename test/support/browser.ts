import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'

export interface OpenPageOptions extends BrowserContextOptions {
  /** The user whose credentials each request has; the password is the name. */
  readonly user?: string
  /** Console errors that the test expects. */
  readonly tolerates?: RegExp
  /** For tests that measure the page's memory. */
  readonly ownProcess?: boolean
}

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

/** A context, and whether a page of the current test has it. */
interface Profile {
  readonly context: BrowserContext
  isTaken: boolean
}

/** The worker's profiles by their options. A new context costs as much as half of a page load. */
const profiles = new Map<string, Profile[]>()

/** Runs in each document before its scripts; `sessionStorage` is new for each page, but not for a reload. */
const START_EMPTY = `if (location.protocol === 'http:' && !sessionStorage.getItem('isStarted')) {
  localStorage.clear()
  sessionStorage.setItem('isStarted', 'yes')
}`

async function createContext(options: BrowserContextOptions): Promise<BrowserContext> {
  // Shared by the worker until it ends, because no test knows which file is the last.
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

/** Opens a page; the returned function closes it, and the pages that it has opened. */
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

/**
 * A page that is closed after the test. Its storage starts empty, and no other open page shares it. The
 * test fails if the page logs an error to the console or throws an uncaught one.
 */
export async function openPage(url: string, options: OpenPageOptions = {}): Promise<Page> {
  const { user, tolerates, viewport, ownProcess = false, ...rest } = options
  const headers = user !== undefined && {
    // Playwright's own credentials would intercept each request, and disable the cache.
    extraHTTPHeaders: { authorization: `Basic ${btoa(`${user}:${user}`)}` },
  }
  const { page, close } = await newPage({ ...headers, ...rest }, ownProcess)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    const text = `${message.text()} ${message.location().url}`
    if (message.type() === 'error' && !tolerates?.test(text)) errors.push(text)
  })
  onTestFinished(async () => {
    await close()
    expect(errors, 'errors of the page').toEqual([])
  })
  page.setDefaultTimeout(HANGS_AFTER_MS)
  if (viewport) await page.setViewportSize(viewport)
  if (url !== 'about:blank') await page.goto(url)
  return page
}
