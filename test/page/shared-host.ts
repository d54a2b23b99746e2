import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { keepPages, type OpenPage, type OpenPageOptions } from '../support/browser.js'
import { type PageHost, serveStory } from '../support/page-host.js'
import { expectShown } from './shown.js'

/** A host for all tests of a file. */
export interface SharedHost extends Omit<PageHost, 'close'> {
  /** Opens pages that are kept, see {@link keepPages}. */
  readonly visit: OpenPage
  /** Opens the list of all times with a filter, and waits until it is shown. */
  open(filter?: string, options?: OpenPageOptions, from?: OpenPage): Promise<Page>
  /** Waits until the list shows a filter; returns the number of its events. */
  shows(page: Page, filter: string): Promise<number>
}

/** Serves one host to the tests of a file or a group: the host of the story, or another one. */
export function shareHost(serve: () => Promise<PageHost> = serveStory): SharedHost {
  let host: PageHost
  beforeAll(async () => {
    host = await serve()
  })
  afterAll(() => host.close())
  // Registered later, so that pages are closed before their host.
  const visit = keepPages()
  const shows = (page: Page, filter: string) => expectShown(page, host.audit, filter)
  return {
    get audit() {
      return host.audit
    },
    get url() {
      return host.url
    },
    get page() {
      return host.page
    },
    visit,
    shows,
    async open(filter = '', options = {}, from = visit) {
      const page = await from(`${host.page}?range=all&${filter}`, { user: 'ann', ...options })
      await shows(page, filter)
      return page
    },
  }
}
