import type { EventsAction } from 'daybook/koa'
import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import type { RawResponse } from '../support/http.js'
import { own, PATH, startFeed } from './access.js'

const ME = `${PATH}/me`

const everything = {
  list: true,
  read: true,
  create: true,
  stream: true,
  count: true,
  export: true,
  types: true,
  describe: true,
  personal: false,
}
const nothing = Object.fromEntries(Object.keys(everything).map((action) => [action, false]))
/** A log without keys has no personal attributes to ask for. */
const asked = Object.keys(everything).filter((action) => action !== 'personal')

const userOf = (response: RawResponse): unknown => {
  expect(response.status, response.body).toBe(200)
  const { data, links } = JSON.parse(response.body) as { data: unknown; links: unknown }
  expect(links).toEqual({ self: ME })
  return data
}

describe('GET /api/events/me', () => {
  it('returns the user, who may do everything by default', async () => {
    const server = await startFeed({})
    expect(userOf(await server.send(ME, { user: 'bob' }))).toEqual({
      type: 'user',
      id: 'bob',
      attributes: { may: everything, restricted: false, ledger: false },
    })
  })

  it('calls authorize for every action except me', async () => {
    const calls: EventsAction[] = []
    const server = await startFeed({
      async authorize(ctx: Context, action) {
        calls.push(action)
        return ctx.state['username'] === 'ann' || action === 'list'
      },
    })
    expect(userOf(await server.send(ME))).toMatchObject({ attributes: { may: everything } })
    expect(calls.toSorted()).toEqual(asked.toSorted())
    expect(userOf(await server.send(ME, { user: 'eve' }))).toEqual({
      type: 'user',
      id: 'eve',
      attributes: { may: { ...nothing, list: true }, restricted: false, ledger: false },
    })
  })

  it('returns restricted: true with a visible filter', async () => {
    const server = await startFeed({
      visible: (ctx: Context) => (ctx.state['username'] === 'ann' ? 'all' : own(ctx)),
    })
    expect(userOf(await server.send(ME))).toMatchObject({ attributes: { restricted: false } })
    expect(userOf(await server.send(ME, { user: 'eve' }))).toMatchObject({
      attributes: { restricted: true },
    })
  })

  it('does not call visible if the user may read nothing', async () => {
    const server = await startFeed({
      authorize: (_ctx, action) => action === 'create' || action === 'types',
      visible() {
        throw new Error('the user has no tenant')
      },
    })
    expect(userOf(await server.send(ME))).toEqual({
      type: 'user',
      id: 'ann',
      attributes: {
        may: { ...nothing, create: true, types: true },
        restricted: false,
        ledger: false,
      },
    })
  })
})
