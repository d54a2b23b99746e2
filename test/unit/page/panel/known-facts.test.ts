import type { JsonObject } from 'daybook'
import { describe, expect, it } from 'vitest'
import { actorKind, knownFacts } from '../../../../adapters/page/panel/known-facts.js'

const all = {
  user_agent: 'curl/8',
  approved_by: ['bob', 7, ''],
  reason: 'a ticket',
  outcome: 'denied',
  on_behalf_of: 'eve',
  actor_id: 'u-7',
  agent_session_id: 'run-1',
  other: 'x',
}

const inOrder = [
  'on_behalf_of eve',
  'actor_id u-7',
  'agent_session_id run-1',
  'outcome denied',
  'reason a ticket',
  'approved_by bob',
  'user_agent curl/8',
]

describe('the facts that the panel shows', () => {
  it.each<[boolean, JsonObject, readonly string[]]>([
    [true, all, inOrder],
    [true, { approved_by: ['bob', 'eve'] }, ['approved_by bob,eve']],
    [true, { on_behalf_of: '', reason: null, outcome: 7, actor_id: { a: 'b' } }, []],
    // A client gave these.
    [false, all, []],
  ])('of a system event %j with %j', (system, attributes, facts) => {
    const shown = knownFacts({ system, attributes })
    expect(shown.map(({ name, values }) => `${name} ${values.join(',')}`)).toEqual(facts)
  })

  it.each<[boolean, JsonObject, string | undefined]>([
    [true, { actor_kind: 'agent' }, 'agent'],
    [true, { actor_kind: ['user'] }, undefined],
    [true, {}, undefined],
    [false, { actor_kind: 'agent' }, undefined],
  ])('include the kind of the actor: %j %j', (system, attributes, kind) => {
    expect(actorKind({ system, attributes })).toBe(kind)
  })
})
