import { expect, test } from 'vitest'
import { applyPatch } from '../../../../adapters/page/data/json-patch.js'

test('members are added, replaced and removed', () => {
  const changed = applyPatch({ progress: 'a', stage: 1, gone: true }, [
    { op: 'replace', path: '/progress', value: 'ab' },
    { op: 'add', path: '/size', value: null },
    { op: 'remove', path: '/gone' },
  ])
  expect(changed).toEqual({ progress: 'ab', stage: 1, size: null })
})

test('array elements are added and removed', () => {
  const changed = applyPatch({ lines: ['a', { n: 1 }, 'c'] }, [
    { op: 'add', path: '/lines/0', value: 'z' },
    { op: 'remove', path: '/lines/3' },
    { op: 'replace', path: '/lines/2/n', value: 2 },
    { op: 'add', path: '/lines/-', value: 'end' },
  ])
  expect(changed).toEqual({ lines: ['z', 'a', { n: 2 }, 'end'] })
})

test('an escaped key is unescaped', () => {
  expect(applyPatch({ 'a/b': 1, 'c~d': 2 }, [{ op: 'remove', path: '/a~1b' }])).toEqual({
    'c~d': 2,
  })
  expect(applyPatch({ '~1': 1 }, [{ op: 'replace', path: '/~01', value: 2 }])).toEqual({ '~1': 2 })
})

test('an empty path replaces the document', () => {
  expect(applyPatch({ a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }])).toEqual({ b: 2 })
})

test('the original document is not changed', () => {
  const before = { list: [1], deep: { x: 1 } }
  applyPatch(before, [
    { op: 'add', path: '/list/1', value: 2 },
    { op: 'replace', path: '/deep/x', value: 2 },
  ])
  expect(before).toEqual({ list: [1], deep: { x: 1 } })
})

test('the prototype cannot be reached', () => {
  const changed = applyPatch({}, [
    { op: 'add', path: '/__proto__', value: { polluted: true } },
    { op: 'add', path: '/__proto__/more', value: true },
  ])
  expect(Object.keys(changed)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(changed)).toBe(Object.prototype)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect(() => applyPatch({}, [{ op: 'add', path: '/constructor/prototype/x', value: 1 }])).toThrow(
    RangeError,
  )
})

test('a patch for another document is refused', () => {
  expect(() => applyPatch({ a: 'text' }, [{ op: 'add', path: '/a/b', value: 1 }])).toThrow('/a/b')
})
