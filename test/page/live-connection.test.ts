import { describe, expect, it } from 'vitest'
import { watchRequests } from '../http/clients/requests.js'
import { openPage } from '../support/browser.js'
import { expectNewest, liveButton, openList, past, record, servePast } from './following.js'
import { firstIds, inOrder, newestFirst, scrollThrough } from './rows.js'
import { rowIds, rowOf, rowsOf, WAIT } from './shown.js'

describe('without a connection', () => {
  it('the page reports it, and resumes without losses or duplicates', async () => {
    let isDown = false
    const requests = watchRequests()
    const host = await servePast({
      inside: [
        requests.middleware,
        async (ctx, next) => {
          if (!isDown) return next()
          ctx.req.socket.destroy()
          return undefined
        },
      ],
    })
    const page = await openList(host, { tolerates: /ERR_/ })
    await record(host, 'before')
    await expectNewest(page, host)
    const total = (await host.audit.count()).total
    isDown = true
    requests.cut()
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Offline')
    const notice = page.getByText(/^No connection since \d\d:\d\d:\d\d/)
    await notice.waitFor()
    expect(await rowsOf(page).count()).toBeGreaterThan(10)
    await record(host, ...Array.from({ length: 30 }, (_, n) => `meanwhile ${n}`))
    isDown = false
    // The page retries by itself, too, which removes the button.
    const tried = page.getByRole('button', { name: 'Retry now' }).click()
    await Promise.race([tried.catch(() => {}), notice.waitFor({ state: 'detached' })])
    await page.mouse.move(0, 0)
    await expectNewest(page, host)
    await notice.waitFor({ state: 'detached' })
    await record(host, 'after')
    await expectNewest(page, host)
    const ids = await newestFirst(host.audit)
    expect(ids).toHaveLength(total + 31)
    const scrolled = await scrollThrough(page, ids.length)
    expect(scrolled.conflicts).toEqual([])
    expect(inOrder(scrolled)).toEqual(ids)
  })

  it('the page reports it, even if only its first files are loaded', async () => {
    const requests = watchRequests()
    let isDown = false
    const host = await servePast({
      inside: [
        requests.middleware,
        async (ctx, next) => {
          const isOtherScript = ctx.url.endsWith('.js') && !/\/(?:page|en)-/.test(ctx.url)
          if (isDown || isOtherScript) ctx.req.socket.destroy()
          else await next()
        },
      ],
    })
    const page = await openList(host, { tolerates: /ERR_/ })
    isDown = true
    requests.cut()
    await page.getByText(/^No connection since/).waitFor()
  })

  it('the end of a stream is not reported as a loss', async () => {
    const requests = watchRequests()
    const host = await servePast({ inside: [requests.middleware] })
    const page = await openList(host, { tolerates: /ERR_/ })
    for (const name of ['one', 'two']) {
      const comesBack = requests.next('/stream')
      requests.cut()
      await record(host, `${name} while away`)
      await comesBack
      await record(host, `${name} after`)
      await expectNewest(page, host)
    }
  })
})

describe('an open event', () => {
  it('grows in its row, and changes to past tense once closed', async () => {
    const host = await servePast()
    const page = await openList(host)
    const live = await host.audit.recordLive('info:template_version:fetch', {
      name: 'storefront@main',
      progress: '',
    })
    const row = rowOf(page, live.event!.id)
    await expect
      .poll(() => row.innerText(), WAIT)
      .toContain('fetch of template version storefront@main started')
    for (const percent of [12, 47]) {
      await live.append('progress', `Receiving objects:  ${percent}% (${percent}/100)\r`)
      await live.flush()
      await expect
        .poll(() => row.innerText(), WAIT)
        .toContain(`storefront@main is being fetched, ${percent} %`)
    }
    await record(host, 'another')
    await expectNewest(page, host)
    await live.close()
    await expect.poll(() => row.innerText(), WAIT).not.toContain('is being')
    expect(await row.innerText()).toContain('fetch of template version storefront@main started')
    expect((await rowIds(page)).filter((id) => id === live.event!.id)).toEqual([live.event!.id])
  })

  it('is known as open to a page opened later', async () => {
    const host = await servePast()
    const live = await host.audit.recordLive('info:template_version:fetch', {
      name: 'storefront@main',
      progress: 'Receiving objects:  30% (30/100)\r',
    })
    const page = await openList(host)
    const row = rowOf(page, live.event!.id)
    await expect.poll(() => row.innerText(), WAIT).toMatch(/is being fetched.*30 %/)
    await live.close()
    await expect.poll(() => row.innerText(), WAIT).not.toContain('is being')
  })

  it('stays closed if a response that was made before its close arrives after it', async () => {
    let isRead = false
    let letResponse = (): void => {}
    const held = new Promise<void>((resolve) => (letResponse = resolve))
    const host = await servePast({
      inside: [
        async (ctx, next) => {
          await next()
          if (live === undefined || !ctx.path.endsWith(live.event!.id)) return
          isRead = true
          await held
        },
      ],
    })
    const live = await host.audit.recordLive('info:template_version:fetch', {
      name: 'storefront@main',
      progress: 'Receiving objects:  30% (30/100)\r',
    })
    const page = await openList(host)
    const row = rowOf(page, live.event!.id)
    await expect.poll(() => isRead, WAIT).toBe(true)
    await live.update({ name: 'storefront@next' })
    await live.close()
    await expect.poll(() => row.innerText(), WAIT).toContain('storefront@next started')
    letResponse()
    const hasResponse = (id: string): boolean =>
      performance.getEntriesByType('resource').some(({ name }) => name.endsWith(id))
    await expect.poll(() => page.evaluate(hasResponse, live.event!.id), WAIT).toBe(true)
    await record(host, 'another')
    await expectNewest(page, host)
    expect(await row.innerText()).toContain('storefront@next started')
  })

  it('is shown as closed on a page whose stream opens after the close', async () => {
    let letStream = (): void => {}
    const closed = new Promise<void>((resolve) => (letStream = resolve))
    const host = await servePast({
      inside: [
        async (ctx, next) => {
          if (ctx.path.endsWith('/stream')) await closed
          await next()
        },
      ],
    })
    const live = await host.audit.recordLive('info:template_version:fetch', {
      name: 'storefront@main',
      progress: 'Receiving objects:  30% (30/100)\r',
    })
    const page = await openList(host)
    const row = rowOf(page, live.event!.id)
    await expect.poll(() => row.innerText(), WAIT).toContain('is being fetched')
    await live.close()
    letStream()
    await expect.poll(() => row.innerText(), WAIT).not.toContain('is being')
  })
})

describe('when live is not possible', () => {
  it('a range in the past is named as the reason', async () => {
    const host = await servePast()
    const to = past.at(-10)!.created_at
    const streams: string[] = []
    const page = await openPage('about:blank', { user: 'ann' })
    page.on('request', (request) => {
      if (request.url().includes('/stream')) streams.push(request.url())
    })
    await page.goto(`${host.page}?filter[created_at_lt]=${to}`)
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Fixed range')
    const before = await newestFirst(host.audit, `filter[created_at_lt]=${to}`)
    await expect.poll(() => firstIds(page, 10), WAIT).toEqual(before.slice(0, 10))
    expect(before).toHaveLength(290)
    expect(streams).toEqual([])
  })

  it('another order is named as the reason, and one click returns to live', async () => {
    const host = await servePast()
    const page = await openList(host)
    await page.getByRole('columnheader', { name: /^Type/ }).getByRole('button').click()
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Sorted')
    const { events } = await host.audit.list('filter[sorts]=type asc&limit=15')
    await expect.poll(() => firstIds(page, 15), WAIT).toEqual(events.map(({ id }) => id))
    await record(host, 'one')
    await liveButton(page).click()
    await page.mouse.move(0, 0)
    await expectNewest(page, host)
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Live')
  })
})

it('a query that is too long for a URL is posted, and not followed', async () => {
  const sent: string[] = []
  const host = await servePast({
    inside: [
      async (ctx, next) => {
        sent.push(`${ctx.method} ${ctx.path}`)
        await next()
      },
    ],
  })
  const page = await openList(host)
  await expectNewest(page, host)
  const { events } = await host.audit.list('limit=1')
  const wanted = events[0]!
  sent.length = 0
  const query = `filter[id_in][]=${'x'.repeat(20_000)}&filter[id_in][]=${wanted.id}`
  await page.evaluate(`history.pushState(null, '', '?${query}')`)
  await page.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`)
  await expect.poll(() => rowIds(page), WAIT).toEqual([wanted.id])
  await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Not live')
  await expect.poll(() => sent, WAIT).toContain('POST /api/events/counts')
})
