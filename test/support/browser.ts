import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'

export interface OpenPageOptions extends BrowserContextOptions {
  /** Who answers where the server asks for a user; the password is the name. */
  readonly user?: string
  /** Errors on the console that the test is about. */
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
 * A page in a profile of its own, closed after the test. The test fails where the page has put an error on
 * the console, or thrown one that nobody caught.
 */
export async function openPage(url: string, options: OpenPageOptions = {}): Promise<Page> {
  const { user, tolerates, ...rest } = options
  // The worker's, as long as it lives: which of its files is the last, no test knows.
  connected ??= connect()
  const browser = await connected
  const context = await browser.newContext({
    // Whatever language the machine has.
    locale: 'en-US',
    timezoneId: 'UTC',
    // What moves all the time is drawn all the time, without a graphics card.
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
