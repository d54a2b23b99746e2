import type { JsonObject } from 'daybook'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { separator, withValues } from '../../../src/privacy/separate.js'

const separate = (names: readonly string[], attributes: JsonObject) => {
  const { rest, values } = separator(names)(attributes)
  expect(withValues(rest, values)).toEqual(attributes)
  return rest
}

describe('separator', () => {
  it('takes what a name leads to, in objects and lists', () => {
    expect(
      separate(['email', 'body_address'], {
        email: 'ann@example.org',
        body: { address: { city: 'Bonn' }, other: 1 },
        body_address: 'Bonn',
        customer: { email: 'kept' },
        list: [{ email: 'kept' }],
      }),
    ).toEqual({
      body: { other: 1 },
      customer: { email: 'kept' },
      list: [{ email: 'kept' }],
    })
    expect(separate(['people_name'], { people: [{ name: 'Ann', n: 1 }, 'x', { n: 2 }] })).toEqual({
      people: [{ n: 1 }, 'x', { n: 2 }],
    })
  })

  it('takes the values of states and of operations', () => {
    expect(
      separate(['email', 'tags'], {
        before: { email: 'a', n: 1 },
        after: { email: 'b', n: 2 },
        changes: [
          { op: 'replace', path: '/email', value: 'b', old_value: 'a' },
          { op: 'replace', path: '/n', value: 2, old_value: 1 },
          { op: 'add', path: '/tags/ann@example.org/0', value: 'x' },
          { op: 'add', path: '', value: { email: 'b', n: 2 } },
          { op: 'move', from: '/tags/ann', path: '/n' },
          'odd',
        ],
      }),
    ).toEqual({
      before: { n: 1 },
      after: { n: 2 },
      changes: [
        { op: 'replace', path: '/email' },
        { op: 'replace', path: '/n', value: 2, old_value: 1 },
        { op: 'add', path: '/tags' },
        { op: 'add', path: '', value: { n: 2 } },
        { op: 'move', from: '/tags', path: '/n' },
        'odd',
      ],
    })
  })

  it('takes pointers whose keys are values', () => {
    const attributes = {
      people: { 'ann@example.org': null },
      recording: { replaced: ['/n', '/people/ann@example.org'], cut_bytes: 0 },
    }
    expect(separate(['people'], attributes)).toEqual({
      recording: { replaced: ['/n'], cut_bytes: 0 },
    })
  })

  it('takes pointers to values that were cut away', () => {
    const replaced = ['/n', '/people/ann@example.org', '/changes/0/value/people/ann@example.org']
    const recording = { replaced, cut_bytes: 9 }
    expect(separate(['people'], { recording })).toEqual({
      recording: { replaced: ['/n'], cut_bytes: 9 },
    })
  })

  it('takes the text of an object that was cut, if a name leads into it', () => {
    const change = { op: 'add', path: '/body', value: '{"email":"ann', cut_bytes: 9 }
    const other = { ...change, path: '/n' }
    expect(separate(['body_email'], { changes: [change, other] })).toEqual({
      changes: [{ op: 'add', path: '/body', cut_bytes: 9 }, other],
    })
  })

  it('puts many values back in little time', () => {
    const people = Array.from({ length: 100_000 }, (_, n) => ({ name: n }))
    const { rest, values } = separator(['people_name'])({ people })
    const began = performance.now()
    expect(withValues(rest, values)).toEqual({ people })
    // With a copy of the list for each value it took minutes.
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  it('leaves other attributes as they are', () => {
    const changes = [{ op: 'add', path: '/n', value: null }]
    const attributes = { a: 1, emails: 2, changes, recording: { replaced: ['/changes/0/value'] } }
    const { rest, values } = separator(['email'])(attributes)
    expect(rest).toBe(attributes)
    expect(values).toEqual([])
  })

  it('is undone by withValues, and leaves no value of a name', () => {
    const key = fc.constantFrom(
      'email',
      'a',
      'b',
      'email_a',
      '__proto__',
      '-',
      '0',
      'changes',
      'path',
    )
    const tree: fc.Arbitrary<JsonObject> = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(1, 'secret', null, true, '/email/x', '/a/email'),
        fc.array(tie('value'), { maxLength: 4 }),
        tie('object'),
      ),
      object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
    })).object as fc.Arbitrary<JsonObject>
    fc.assert(
      fc.property(tree, (attributes) => {
        const { rest, values } = separator(['email', 'a_b'])(attributes)
        // The order of members may differ.
        expect(withValues(rest, values)).toEqual(attributes)
        expect(separator(['email', 'a_b'])(rest).values).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})
