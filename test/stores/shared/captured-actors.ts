import { type Actor, type AuditEvent, type AuditLog, withActor } from 'daybook'
import { recordRequests } from 'daybook/fetch'
import { expect } from 'vitest'

const BOT = {
  username: 'bot',
  id: 7,
  kind: 'service',
  on_behalf_of: "o'neil \\ ?",
  session_id: 's1',
  agent_session_id: 'run-1',
  remote_address: '192.0.2.7',
} as const

const OF_REQUEST = { request_id: 'r1', trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) }

const OF_BOT = {
  actor_id: '7',
  actor_kind: 'service',
  on_behalf_of: "o'neil \\ ?",
  session_id: 's1',
  agent_session_id: 'run-1',
  remote_address: '192.0.2.7',
}

type Given = readonly [] | readonly [Actor | string | null]

/** The actors for calls of `captureAs`, by the name of the order that each inserts. */
const GIVEN: readonly (readonly [name: string, given: Given, user: string | null, data: object])[] =
  [
    ['current', [], 'bot', OF_BOT],
    ['name', ['ann'], 'ann', {}],
    ['nobody', [null], null, {}],
    [
      'object',
      [{ username: null, kind: 'agent', on_behalf_of: '' }],
      null,
      { actor_kind: 'agent' },
    ],
  ]

/** Inserts rows in a transaction of `captureAs`, with the given actor or the current one. */
export type CaptureRow = (
  given: Given,
  table: 'orders' | 'sessions',
  id: string,
) => Promise<unknown>

/**
 * Changes rows within a request, and expects that their events have the same actors and ids as recorded events.
 * Captures the tables `orders` and `sessions`, with an `id`.
 */
export async function expectActors(
  audit: AuditLog,
  captureRow: CaptureRow,
  captured: () => Promise<readonly AuditEvent[]>,
): Promise<void> {
  const recorded: (AuditEvent | undefined)[] = []
  const record = recordRequests(audit, { route: () => 'orders', username: () => BOT })
  const handle = record(async () => {
    for (const [id, given] of GIVEN) {
      await captureRow(given, 'orders', id)
      const call = () => audit.recordCustom('recorded')
      recorded.push(await (given.length === 1 ? withActor(given[0], call) : call()))
    }
    await captureRow([], 'sessions', 's2')
    return new Response()
  })
  const { request_id, trace_id, span_id } = OF_REQUEST
  const headers = { 'x-request-id': request_id, traceparent: `00-${trace_id}-${span_id}-01` }
  await handle(new Request('http://host.example/orders', { method: 'POST', headers }))
  await captureRow([], 'orders', 'outside')

  const shown = ({ username, attributes }: AuditEvent): readonly unknown[] => {
    const { ...others } = attributes
    delete others['table']
    delete others['after']
    return [username, others]
  }
  const withId = (id: string, attributes: object): object => ({ order_id: id, ...attributes })
  const expected = GIVEN.map(([id, , user, attributes]) => [
    user,
    withId(id, { ...attributes, ...OF_REQUEST }),
  ])
  expect((await captured()).map(shown)).toEqual([
    ...expected,
    ['bot', { ...OF_BOT, ...OF_REQUEST, session_id: 's2' }],
    [null, { order_id: 'outside' }],
  ])
  const withIds = recorded.map((event, i) => [
    event!.username,
    withId(GIVEN[i]![0], event!.attributes),
  ])
  expect(withIds).toEqual(expected)
}

/** Arguments that `captureAs` refuses, and the expected message. */
export const REFUSED: readonly (readonly [given: readonly unknown[], message: string])[] = [
  [[7, () => {}], 'actor must be a name, null or an object with a username; it is of type number'],
  [[undefined, () => {}], 'actor must be a name, null or an object with a username'],
  [[{ kind: 'user' }, () => {}], 'username of an actor must be a text or null'],
  [
    [{ username: 'ann', kind: 'robot' }, () => {}],
    'kind of an actor must be one of user, service, agent',
  ],
  [
    [{ username: 'ann', session_id: 7 }, () => {}],
    'session_id of an actor must be a text of at most',
  ],
  [['ann'], 'run must be a function'],
]
