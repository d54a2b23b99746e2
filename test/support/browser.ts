import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'

export interface OpenPageOptions extends BrowserContextOptions {
  /** The user for Basic authentication; the password is the name. */
  readonly user?: string
  /** Console errors that the test expects. */
  readonly tolerates?: RegExp
}

let connected: Promise<Browser> | undefined

async function connect(): Promise<Browser> {
  const response = await fetch(inject('browserUrl'))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return chromium.connect(text)
}

/**
 * A page in its own profile, closed after the test. The test fails if the page logs an error to the
 * console or throws an uncaught one.
 */
export async function openPage(url: string, options: OpenPageOptions = {}): Promise<Page> {
  const { user, tolerates, ...rest } = options
  // Shared by the worker until it ends, because no test knows which file is the last.
  connected ??= connect()
  const browser = await connected
  const context = await browser.newContext({
    // Independent of the language of the machine.
    locale: 'en-US',
    timezoneId: 'UTC',
    // Animations would be redrawn all the time, without a graphics card.
    reducedMotion: 'reduce',
    ...(user !== undefined && { httpCredentials: { username: user, password: user } }),
    ...rest,
  })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    const text = `${message.text()} ${message.location().url}`
    if (message.type() === 'error' && !tolerates?.test(text)) errors.push(text)
  })
  onTestFinished(async () => {
    await context.close()
    expect(errors, 'errors of the page').toEqual([])
  })
  await page.goto(url)
  return page
}
