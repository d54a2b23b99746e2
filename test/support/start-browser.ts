import fs from 'node:fs'
import { type BrowserServer, chromium, type LaunchOptions } from 'playwright-core'
import { packagedChromium } from './packaged-chromium.js'
import { MEMORY_FOLDER, tempFolder } from './temp.js'

/** A browser that may be installed. */
interface Candidate {
  readonly name: string
  /** `undefined` if it is not installed. */
  readonly options: () => LaunchOptions | undefined | Promise<LaunchOptions | undefined>
}

const firstOf = (...files: readonly (string | undefined)[]): LaunchOptions | undefined => {
  const executablePath = files.find((file) => file !== undefined && fs.existsSync(file))
  return executablePath === undefined ? undefined : { executablePath }
}

const named = (): LaunchOptions | undefined => {
  const executablePath = process.env['DAYBOOK_TEST_BROWSER']
  return executablePath ? { executablePath } : undefined
}

/** Otherwise half of a page's CPU time would go to processes, compilers and threads that a short test never needs. */
const ARGS = [
  '--disable-gpu',
  // Each context has one process for its pages.
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  '--js-flags=--no-opt --no-maglev',
]

/**
 * On machines with enough memory, processes of the browser share memory instead of files, which would take a sixth of
 * the time of a page. Playwright prefers files, because memory is often scarce in containers.
 */
const ignoredArgs = (): string[] =>
  tempFolder().startsWith(MEMORY_FOLDER) ? ['--disable-dev-shm-usage'] : []

/** The browsers in the order in which they are tried. */
const CANDIDATES: readonly Candidate[] = [
  { name: 'DAYBOOK_TEST_BROWSER', options: named },
  { name: '@sparticuz/chromium', options: packagedChromium },
  { name: "Playwright's Chromium", options: () => firstOf(chromium.executablePath()) },
  { name: 'Chrome', options: () => ({ channel: 'chrome' }) },
  { name: 'Edge', options: () => ({ channel: 'msedge' }) },
  {
    name: 'Chromium',
    options: () =>
      firstOf(
        '/usr/bin/chromium',
        '/usr/bin/chromium-browser',
        '/usr/bin/chromium-headless-shell',
        '/snap/bin/chromium',
        '/Applications/Chromium.app/Contents/MacOS/Chromium',
      ),
  },
]

/**
 * Launches the first available browser, or only the one that DAYBOOK_TEST_BROWSER names. Throws with
 * the list of tried browsers if none can be launched.
 */
export async function startBrowser(): Promise<BrowserServer> {
  const tried: string[] = []
  const candidates = named() ? CANDIDATES.slice(0, 1) : CANDIDATES
  for (const { name, options } of candidates) {
    try {
      const found = await options()
      if (!found) continue
      return await chromium.launchServer({
        chromiumSandbox: false,
        args: ARGS,
        ignoreDefaultArgs: ignoredArgs(),
        timeout: 30_000,
        ...found,
      })
    } catch (error) {
      tried.push(`${name}: ${String(error).split('\n').slice(0, 3).join(' ')}`)
    }
  }
  throw new Error(
    [
      'no browser can be started: run "npx playwright-core install chromium-headless-shell", or set DAYBOOK_TEST_BROWSER to the path of a Chromium',
      ...tried,
    ].join('\n'),
  )
}
