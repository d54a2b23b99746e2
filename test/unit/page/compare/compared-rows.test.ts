import type { AuditEvent, JsonObject } from 'daybook'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comparedRows } from '../../../../adapters/page/compare/compared-rows.js'
import { plainEvent } from '../../../support/plain-events.js'

const event = (attributes: JsonObject): AuditEvent => plainEvent({ attributes })

const different = (left: JsonObject, right: JsonObject) =>
  comparedRows(event(left), event(right))
    .filter(({ kind }) => kind !== 'equal')
    .map(({ path, left, right, kind }) => {
      const text = (pieces: typeof left) => pieces?.map((piece) => piece.text).join('')
      return [path, kind, text(left), text(right)]
    })

describe('the rows of a comparison', () => {
  it('are single values', () => {
    expect(
      different(
        { a: { b: [1, 2], c: 'x y' }, same: { z: 1 }, left: { n: 1 } },
        { a: { b: [1, 3, 4], c: 'x z' }, same: { z: 1 }, right: [] },
      ),
    ).toEqual([
      ['a.b[1]', 'changed', '2', '3'],
      ['a.c', 'changed', 'x y', 'x z'],
      ['a.b[2]', 'right', undefined, '4'],
      ['left', 'left', '{\n  "n": 1\n}', undefined],
      ['right', 'right', undefined, '[]'],
    ])
  })

  it('tell a number from its text', () => {
    expect(different({ n: 8 }, { n: '8' })).toEqual([['n', 'changed', '8', '"8"']])
  })

  it('keep a very large attribute in one row', () => {
    const list = Array.from({ length: 600 }, (_, i) => i)
    const [row, ...others] = different({ list }, { list: [...list, 600] })
    expect(others).toEqual([])
    expect(row!.slice(0, 2)).toEqual(['list', 'changed'])
  })

  it('differ if and only if the attributes do', () => {
    const attributes = fc.object({
      key: fc.constantFrom('a', 'b', '__proto__'),
      maxDepth: 2,
      values: [fc.integer({ min: 0, max: 2 }), fc.constantFrom('', 'x', null)],
    }) as fc.Arbitrary<JsonObject>
    fc.assert(
      fc.property(attributes, attributes, (left, right) => {
        expect(different(left, structuredClone(left))).toEqual([])
        expect(different(left, right).length === 0).toBe(
          JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)),
        )
      }),
    )
  })
})

/** The value with the members of objects in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.entries(value)
    .map(([name, member]) => [name, sorted(member)] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
}
