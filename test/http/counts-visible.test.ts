import type { AuditEvent } from 'daybook'
import type { Context } from 'koa'
import { expect, it } from 'vitest'
import { own, startFeed } from './access.js'
import { counted, inFull } from './counts.js'

/** Events of ann, of which every second one is hidden from her, and of bob. */
const events = Array.from({ length: 9 }, (_, n): AuditEvent => {
  const attributes = [{ kind: 'seen' }, { kind: 'secret', hidden: 'yes' }, { kind: 'of bob' }]
  return {
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    created_at: `2026-0${n + 1}-01T00:00:00.000000Z`,
    username: n % 3 === 2 ? 'bob' : 'ann',
    system: false,
    type: 'note',
    source: null,
    attributes: { n, ...attributes[n % 3] },
  }
})
const seen = events.filter((_, n) => n % 3 === 0)

it.each([
  '',
  'filter[username_eq]=ann',
  'filter[username_eq]=bob',
  'filter[username_not_eq]=ann',
  'filter[hidden_eq]=yes',
  'filter[hidden_not_null]=1',
  'filter[m]=or&filter[username_eq]=bob&filter[id_not_null]=1',
  'filter[g][0][username_eq]=ann&filter[g][1][hidden_null]=1',
  'filter[type_start]=error:',
  'filter[kind_eq]=secret&filter[username_in][]=bob&filter[hidden_eq]=yes',
])('counts by %s are those of a log that holds only the visible events', async (query) => {
  const visible = (ctx: Context) => ({ ...own(ctx), hidden_null: true })
  const server = inFull(await startFeed({ visible }))
  await server.audit.importEvents(events)
  const facets = 'facets[]=username&facets[]=hidden&facets[]=kind&facets[]=level&facets[]=type'
  const all = `${query}&${facets}&filter[created_at_lt]=2026-12-01&attributes=true`
  for (const [user, remaining] of [
    ['ann', seen],
    ['eve', []],
  ] as const) {
    const model = inFull(await startFeed({}))
    await model.audit.importEvents(remaining)
    const { took_ms: _given, ...given } = await counted(server, all, user)
    const { took_ms: _expected, ...expected } = await counted(model, all, user)
    expect(given).toEqual(expected)
  }
})
