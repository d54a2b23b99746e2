import { describe, expect, it } from 'vitest'
import {
  changeRow,
  dottedPath,
  recordedChanges,
} from '../../../../adapters/page/panel/change-rows.js'

describe('dottedPath', () => {
  it.each([
    ['', ''],
    ['/description', 'description'],
    ['/limits/parallel_changes', 'limits.parallel_changes'],
    ['/requires_approval_from/1', 'requires_approval_from[1]'],
    ['/list/-', 'list[-]'],
    ['/steps/0/name', 'steps[0].name'],
    ['/a~1b/c~0d', '["a/b"]["c~d"]'],
    ['/odd key', '["odd key"]'],
    ['/', '[""]'],
    ['/__proto__/x', '__proto__.x'],
  ])('reads %j as %j', (pointer, path) => {
    expect(dottedPath(pointer)).toBe(path)
  })
})

describe('recordedChanges', () => {
  it.each([
    ['nothing', undefined],
    ['a text', 'all of it'],
    ['an empty list', []],
    ['other objects', [{ from: 1, to: 2 }]],
    ['an operation that is not recorded', [{ op: 'test', path: '/a', value: 1 }]],
    ['a name every object has', [{ op: 'constructor', path: '/a' }]],
    ['a list with a null', [null]],
  ])('does not take %s for changes', (_, value) => {
    expect(recordedChanges(value as never)).toBeUndefined()
  })

  it('accepts changes as the library records them', () => {
    const changes = [{ op: 'replace', path: '/a', value: 1, old_value: 2 }]
    expect(recordedChanges(changes)).toBe(changes)
  })
})

describe('changeRow', () => {
  it('shows two texts without quotes, with the words that differ', () => {
    const change = { op: 'replace', path: '/d', value: 'on hold', old_value: 'on air' } as const
    expect(changeRow(change)).toEqual({
      path: 'd',
      kind: 'changed',
      before: [
        { text: 'on ', isChanged: false },
        { text: 'air', isChanged: true },
      ],
      after: [
        { text: 'on ', isChanged: false },
        { text: 'hold', isChanged: true },
      ],
      cutBytes: 0,
    })
  })

  it('shows values of other types as JSON, so that 4 and "4" differ', () => {
    const { before, after } = changeRow({ op: 'replace', path: '/n', value: '4', old_value: 4 })
    expect(before).toEqual([{ text: '4', isChanged: true }])
    expect(after).toEqual([{ text: '"4"', isChanged: true }])
  })

  it('shows only one side of an added or removed value', () => {
    const added = changeRow({ op: 'add', path: '/l/1', value: 'release-leads' })
    expect(added).toMatchObject({ kind: 'added', before: undefined })
    expect(added.after).toEqual([{ text: '"release-leads"', isChanged: false }])
    const removed = changeRow({ op: 'remove', path: '/c', old_value: null, cut_bytes: 7 })
    expect(removed).toMatchObject({ kind: 'removed', after: undefined, cutBytes: 7 })
    expect(removed.before).toEqual([{ text: 'null', isChanged: false }])
  })

  it('leaves out the value before if it was not recorded', () => {
    expect(changeRow({ op: 'replace', path: '/n', value: 1 }).before).toBeUndefined()
  })

  it('shows an empty text as quotes', () => {
    const { before } = changeRow({ op: 'replace', path: '/n', value: 'x', old_value: '' })
    expect(before).toEqual([{ text: '""', isChanged: true }])
  })
})
