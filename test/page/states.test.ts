import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import type { Middleware } from 'koa'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { type PageHost, type PageHostOptions, servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { firstIds, newestFirst } from './rows.js'
import { expectShown, rowIds, rowsOf, WAIT } from './shown.js'

const past = dayOfEvents(Date.now() * 1000 - 5_000_000).slice(-400)
const DESK = { width: 1280, height: 720 }
const PHONE = { width: 390, height: 844 }

async function serve(options: PageHostOptions = {}): Promise<PageHost> {
  const host = await servePage({ events: past, ...options })
  onTestFinished(() => host.close())
  return host
}

const open = (host: PageHost, address = '', options: OpenPageOptions = {}): Promise<Page> =>
  openPage(`${host.page}${address}`, { user: 'ann', ...options })

/** Delays matching requests until they are released. */
function gate(): { middleware: Middleware; hold: (part: string) => void; release: () => void } {
  let held: string | undefined
  let waiting: (() => void)[] = []
  return {
    async middleware(ctx, next) {
      if (held !== undefined && ctx.url.includes(held))
        await new Promise<void>((resolve) => waiting.push(resolve))
      return next()
    },
    hold: (part) => (held = part),
    release() {
      held = undefined
      for (const resolve of waiting) resolve()
      waiting = []
    },
  }
}

const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { name })
const numbers = (page: Page) =>
  page.getByRole('region', { name: 'Events over time' }).getByRole('heading')

describe('with nothing to show', () => {
  it('an empty log shows how to record, then the first event', async () => {
    const host = await serve({ events: [] })
    const page = await open(host)
    await title(page, 'No events recorded yet').waitFor()
    expect(await page.getByRole('main').innerText()).toContain('audit.record(')
    const event = await host.audit.record('api:changes:create', { name: 'first' })
    await expect.poll(() => rowIds(page), WAIT).toEqual([event!.id])
  })

  it('each filter shows how many events it excludes, on a phone too', async () => {
    const host = await serve()
    const type = 'filter[project_code_eq]=acme'
    const user = 'filter[username_eq]=nobody'
    const page = await open(host, `?range=all&${type}&${user}`)
    for (const viewport of [DESK, PHONE]) {
      await page.setViewportSize(viewport)
      await title(page, 'No events match all 2 filters').waitFor()
      const ways = page.getByRole('main').getByRole('listitem')
      for (const [left, text] of [
        [type, 'user is nobody'],
        [user, 'project_code is acme'],
      ] as const) {
        const { total } = await host.audit.count(left)
        const way = ways.filter({ hasText: text })
        await expect
          .poll(async () => (await way.innerText()).split('\n'), WAIT)
          .toContain(String(total))
      }
      await ways
        .filter({ hasText: 'user is nobody' })
        .getByRole('button', { name: 'Leave out' })
        .click()
      expect(await expectShown(page, host.audit, type)).toBeGreaterThan(0)
      await page.goBack()
    }
  })

  it('a word that matches nothing keeps the range and live updates, and the page does not mention other events', async () => {
    const host = await serve()
    const page = await open(host)
    await rowsOf(page).first().waitFor()
    const total = (await host.audit.count()).total
    const field = page.getByRole('combobox', { name: 'Add a filter' })
    for (const [word, hasForms] of [
      ['zzgrmpf', false],
      ['zzcafé', true],
    ] as const) {
      await field.fill(word)
      await field.press('Enter')
      await title(page, 'No events match the filter in this time range').waitFor()
      const way = page.getByRole('main').getByRole('listitem').filter({ hasText: word })
      await expect
        .poll(async () => (await way.innerText()).split('\n'), WAIT)
        .toContain(String(total))
      expect(await page.getByText('No event is in').count()).toBe(0)
      await expect.poll(() => page.getByText('(NFD)').count(), WAIT).toBe(hasForms ? 1 : 0)
      expect(new URL(page.url()).searchParams.get('range')).toBe('24h')
      await page.getByRole('banner').getByRole('button', { name: /^Live/ }).waitFor()
      await way.getByRole('button', { name: 'Leave out' }).click()
      await rowsOf(page).first().waitFor()
    }
  })
})

describe('a user', () => {
  it('without the right to read is refused and sees nothing, on a phone too', async () => {
    const host = await serve({ feed: { authorize: () => false } })
    const page = await open(host, '', { user: 'eve', tolerates: /403/ })
    for (const viewport of [DESK, PHONE]) {
      await page.setViewportSize(viewport)
      await title(page, 'eve may not read the audit history').waitFor()
      expect(await page.getByRole('main').innerText()).toContain('403')
      expect(await page.getByRole('grid').count()).toBe(0)
      expect(await page.getByRole('checkbox').count()).toBe(0)
    }
  })

  it('who is not signed in is asked to sign in', async () => {
    let isKnown = false
    const host = await serve({
      inside: [
        async (ctx, next) => {
          if (isKnown || !ctx.path.startsWith('/api')) return next()
          ctx.status = 401
          ctx.body = ''
          return undefined
        },
      ],
    })
    const page = await open(host, '', { tolerates: /401/ })
    await title(page, 'Sign in to read the audit history').waitFor()
    expect(await page.getByRole('grid').count()).toBe(0)
    isKnown = true
    await page.getByRole('button', { name: 'Sign in' }).click()
    await rowsOf(page).first().waitFor()
  })

  it('whose session ends is redirected to the sign-in page, and back', async () => {
    let user: string | null = null
    const username = (): string | null => user
    const host = await serve({
      page: { signIn: '/login', username },
      feed: { challenge: false, username },
      inside: [
        async (ctx, next) => {
          if (ctx.path !== '/login') return next()
          user = 'ann'
          return ctx.redirect('/audit')
        },
      ],
    })
    const page = await open(host, '', { tolerates: /40[14]/ })
    await rowsOf(page).first().waitFor()
    user = null
    // The event is not in the list, so the page asks for it.
    await page.goto(`${page.url().replace(/#.*/, '')}#event=0196b3c2-0000-7000-8000-000000000000`)
    await title(page, 'Sign in to read the audit history').waitFor()
    expect(await page.getByRole('grid').count()).toBe(0)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await rowsOf(page).first().waitFor()
  })

  it('with the right to a part of the log sees a notice, and counts and rows of this part', async () => {
    const host = await serve({ feed: { visible: () => ({ username_eq: 'ann' }) } })
    const page = await open(host, '?range=all')
    await page.getByText('You see what your role may read.').waitFor()
    const ids = await newestFirst(host.audit, 'filter[username_eq]=ann')
    await expect.poll(() => firstIds(page, 10), WAIT).toEqual(ids.slice(0, 10))
    await expect.poll(() => numbers(page).innerText(), WAIT).toBe(`${ids.length} events`)
    const facets = page.getByRole('complementary', { name: 'Facets' })
    expect(await facets.getByRole('checkbox', { name: /^mira/ }).count()).toBe(0)
  })

  it('a sort by an attribute that no event has is reported above the rows', async () => {
    const host = await serve()
    const page = await open(host, '?filter[sorts]=creatd_at')
    const warning = page.getByText(
      'no visible event has the attribute "creatd_at"; did you mean created_at?',
    )
    await warning.waitFor()
    await rowsOf(page).first().waitFor()
  })

  it('who may neither count nor export sees one note, and no commands for these', async () => {
    const refused = new Set(['count', 'export'])
    const host = await serve({ feed: { authorize: (_, action) => !refused.has(action) } })
    const page = await open(host, '?range=all', { tolerates: /403/ })
    const notice = page.getByText('You may not count events, so there are no chart and no facets.')
    await notice.waitFor()
    expect(await notice.count()).toBe(1)
    await expect
      .poll(() => notice.innerText(), WAIT)
      .toContain('You may not export events or make reports.')
    const ids = await newestFirst(host.audit)
    await expect.poll(() => firstIds(page, 10), WAIT).toEqual(ids.slice(0, 10))
    await expect.poll(() => page.getByRole('complementary').count(), WAIT).toBe(0)
    expect(await page.getByRole('img').count()).toBe(0)
    expect(await page.getByText('could not be counted').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Export' }).count()).toBe(0)
    for (const key of ['e', 'p']) await page.keyboard.press(key)
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keyboard' })
    await keys.waitFor()
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(await keys.getByText(/^(Export|Report to print)$/).count()).toBe(0)
    // The list has the width of the facets too.
    expect((await page.getByRole('grid').boundingBox())!.x).toBe(0)

    // After the account is known, the page sends no request that would be refused.
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.keyboard.press('Escape')
    await rowsOf(page).first().focus()
    await page.keyboard.press('x')
    const filter = `filter[type_not_eq]=${past.at(-1)!.type}`
    const rest = await newestFirst(host.audit, filter)
    await expect.poll(() => firstIds(page, 10), WAIT).toEqual(rest.slice(0, 10))
    expect(requests.filter((url) => /counts|export|report/.test(url))).toEqual([])
  })

  it('the panel shows that the user may not read single events', async () => {
    const host = await serve({ feed: { authorize: (_, action) => action !== 'read' } })
    const page = await open(host, `?filter[type_eq]=none#event=${past[0]!.id}`, {
      tolerates: /403/,
    })
    const panel = page.getByRole('complementary', { name: 'Event' })
    await panel.getByRole('heading', { name: 'No access' }).waitFor()
  })
})

describe('when the service fails', () => {
  it('the page reports it and tries again', async () => {
    const store = faultyStore(memoryStore())
    const host = await serve({ store })
    store.fail('list')
    const page = await open(host, '?range=all', { tolerates: /50\d/ })
    await title(page, 'The events could not be loaded').waitFor()
    expect(await page.getByRole('main').innerText()).toMatch(/The service answered with 50\d/)
    store.heal()
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).first().click()
    await expectShown(page, host.audit, '')
  })

  it('the page reports it, even if only its first files are loaded', async () => {
    const isFirst = (url: string): boolean => /\/audit\?|\/(?:page|en)-|\.css$|\.svg$/.test(url)
    const host = await serve({
      inside: [
        async (ctx, next) => {
          if (isFirst(ctx.url)) await next()
          else ctx.req.socket.destroy()
        },
      ],
    })
    const page = await open(host, '?range=all', { tolerates: /ERR_/ })
    await title(page, 'The events could not be loaded').waitFor()
    await page.getByText('The service could not be reached.').waitFor()
  })

  it('a part that could not be loaded can be closed or loaded again', async () => {
    const host = await serve()
    const page = await open(host, '', { tolerates: /ERR_/ })
    const files = /\/assets\/(?:panel|range-picker)-[^/]*\.js$/
    await rowsOf(page).first().waitFor()
    await page.route(files, (route) => route.abort())
    const problem = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
    const click = (name: string) => problem.getByRole('button', { name }).click()
    const panel = page.getByRole('complementary', { name: 'Event' })
    await rowsOf(page).first().click()
    await problem.waitFor()
    await page.keyboard.press('Escape')
    await problem.waitFor({ state: 'detached' })
    expect(new URL(page.url()).hash).toBe('')
    await rowsOf(page).nth(1).click()
    await click('Try again')
    await click('Close')
    await page.getByRole('button', { name: 'Last 24 hours' }).click()
    await problem.waitFor()
    await page.unroute(files)
    await click('Try again')
    await page.getByRole('dialog', { name: 'Time' }).waitFor()
    await page.keyboard.press('Escape')
    await rowsOf(page).first().click()
    await panel.getByRole('heading').first().waitFor()
    expect(await problem.count()).toBe(0)
  })

  it('parts without a button are loaded again', async () => {
    const host = await serve()
    const page = await openPage('about:blank', { user: 'ann', tolerates: /ERR_/ })
    let isAway = true
    await page.route(/\/assets\/(?:facets|over-time)-[^/]*\.js$/, (route) =>
      isAway ? route.abort() : route.continue(),
    )
    await page.goto(host.page)
    await page.getByText('A part of the page could not be loaded').first().waitFor()
    isAway = false
    await numbers(page).waitFor()
    await page.getByRole('group', { name: 'Levels' }).waitFor()
  })

  it('rows stay, and the failed request is repeated once the service works', async () => {
    const store = faultyStore(memoryStore())
    const host = await serve({ store })
    const page = await open(host, '?range=all', { tolerates: /50\d/ })
    await expectShown(page, host.audit, '')
    const before = await rowIds(page)
    store.fail('list')
    await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'error' }).click()
    await page.getByText('Showing the events loaded before.').waitFor()
    // The notice takes the space of a row.
    expect(await firstIds(page, 10)).toEqual(before.slice(0, 10))
    store.heal()
    await page.getByRole('status').getByRole('button', { name: 'Try again' }).click()
    await expectShown(page, host.audit, 'filter[type_start_any][]=error:')
    await page.getByText('Showing the events loaded before.').waitFor({ state: 'detached' })
  })

  it('rows are shown without counts, which can be retried', async () => {
    const store = faultyStore(memoryStore())
    const host = await serve({ store })
    store.fail('count')
    const page = await open(host, '?range=all', { tolerates: /50\d/ })
    const ids = await newestFirst(host.audit)
    await expect.poll(() => firstIds(page, 10), WAIT).toEqual(ids.slice(0, 10))
    const chart = page.getByRole('region', { name: 'Events over time' })
    await chart.getByText('The events could not be counted').waitFor()
    store.heal()
    await chart.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => numbers(page).innerText(), WAIT).toBe('400 events')
  })
})

describe('while loading', () => {
  it('the first rows do not wait for counts, types or the account', async () => {
    for (const part of ['/counts', '/types', '/me']) {
      const { middleware, hold, release } = gate()
      const host = await serve({ inside: [middleware] })
      hold(part)
      const page = await open(host, '?range=all')
      const ids = await newestFirst(host.audit)
      await expect.poll(() => firstIds(page, 10), WAIT).toEqual(ids.slice(0, 10))
      if (part === '/counts') expect(await numbers(page).innerText()).toBe('Events')
      release()
      await expect.poll(() => numbers(page).innerText(), WAIT).toBe('400 events')
    }
  })

  it('a skeleton replaces the first rows', async () => {
    const { middleware, hold, release } = gate()
    const host = await serve({ inside: [middleware] })
    hold('limit=100')
    const page = await open(host, '?range=all')
    await page.locator('[aria-busy=true] .skeleton-bar').first().waitFor()
    expect(await rowsOf(page).count()).toBe(0)
    release()
    await expectShown(page, host.audit, '')
    await expect.poll(() => page.locator('.skeleton-bar').count(), WAIT).toBe(0)
  })

  it('the rows of the previous query stay, and are dimmed', async () => {
    const { middleware, hold, release } = gate()
    const host = await serve({ inside: [middleware] })
    const page = await open(host, '?range=all')
    await expectShown(page, host.audit, '')
    const before = await rowIds(page)
    hold('limit=100')
    await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'error' }).click()
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-busy'), WAIT).toBe('true')
    // More rows may have been rendered below since.
    expect((await rowIds(page)).slice(0, before.length)).toEqual(before)
    release()
    await expectShown(page, host.audit, 'filter[type_start_any][]=error:')
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-busy'), WAIT).not.toBe('true')
  })
})
