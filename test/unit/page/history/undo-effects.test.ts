import { type JsonObject, revertPatch } from 'daybook'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { undoEffects } from '../../../../adapters/page/history/undo-effects.js'
import { changesBetween } from '../../../../src/event/changes.js'

const revertOf = (before: JsonObject, after: JsonObject) =>
  revertPatch({ attributes: { before, after } }, { test: true })

const anyState = fc.dictionary(
  fc.constantFrom('a', 'b', 'c/d', 'e~f'),
  fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom('x', 'y', null, true),
    fc.dictionary(fc.constantFrom('g', 'h'), fc.integer({ min: 0, max: 2 })),
    fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
  ),
  { noNullPrototype: true },
) as fc.Arbitrary<JsonObject>

describe('the effects of undoing a change', () => {
  it('are the changes of the patch, with the present values', () => {
    const before = { total: 1, note: 'x', tags: ['a'] }
    const after = { total: 2, tags: ['a', 'b'], paid: true }
    const effects = undoEffects(revertOf(before, after), after)
    const byPath = effects.toSorted((one, other) => (one.change.path < other.change.path ? -1 : 1))
    expect(byPath).toEqual([
      { change: { op: 'add', path: '/note', value: 'x' }, isChangedSince: false },
      { change: { op: 'remove', path: '/paid', old_value: true }, isChangedSince: false },
      { change: { op: 'remove', path: '/tags/1', old_value: 'b' }, isChangedSince: false },
      {
        change: { op: 'replace', path: '/total', value: 1, old_value: 2 },
        isChangedSince: false,
      },
    ])
  })

  it.each<[string, JsonObject, JsonObject, JsonObject, object]>([
    [
      'a value that was set again',
      { n: 1 },
      { n: 2 },
      { n: 3 },
      { op: 'replace', path: '/n', value: 1, old_value: 3 },
    ],
    ['an added value that was removed', {}, { n: 2 }, {}, { op: 'remove', path: '/n' }],
    [
      'a removed value that was added again',
      { n: 1 },
      {},
      { n: 5 },
      { op: 'replace', path: '/n', value: 1, old_value: 5 },
    ],
    [
      'a value in a place that no longer exists',
      { a: { n: 1 } },
      { a: { n: 2 } },
      { a: 7 },
      { op: 'add', path: '/a/n', value: 1 },
    ],
  ])('show %s as changed since', (_name, before, after, present, change) => {
    expect(undoEffects(revertOf(before, after), present)).toEqual([
      { change, isChangedSince: true },
    ])
  })

  it('are never shown as changed since in the state right after the change', () => {
    fc.assert(
      fc.property(anyState, anyState, (before, after) => {
        const effects = undoEffects(revertOf(before, after), after)
        expect(effects).toHaveLength(changesBetween(before, after).length)
        expect(effects.filter(({ isChangedSince }) => isChangedSince)).toEqual([])
      }),
    )
  })
})
