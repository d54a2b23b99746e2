import { describe, expect, it } from 'vitest'
import { actorFacts } from '../../../../adapters/page/panel/actor-facts.js'

describe('actorFacts', () => {
  it.each([
    [{}, undefined, undefined],
    [{ actor_kind: 'agent', on_behalf_of: 'bob' }, 'agent', 'bob'],
    [{ actor_kind: 'service', on_behalf_of: '' }, 'service', undefined],
    [{ actor_kind: ['user'], on_behalf_of: ['bob'] }, undefined, undefined],
    [{ actor_kind: 7, on_behalf_of: null }, undefined, undefined],
  ])('of %j', (attributes, kind, onBehalfOf) => {
    expect(actorFacts({ attributes })).toEqual({ kind, onBehalfOf })
  })
})
