import { expect, it } from 'vitest'
import {
  type CheckedNames,
  createKnownNames,
  createNamesCheck,
  nameRow,
  type NameRow,
} from '../../../../src/store-kit/index/attribute-names.js'

function checkNames(rows: readonly NameRow[], highest: number): CheckedNames {
  const check = createNamesCheck()
  for (const row of rows) check.add([row])
  return check.result(highest)
}

const RIGHT = ['a', 'b', 'c', 'd'].map((name, i) => nameRow(i + 1, name))

const WRONG: readonly (readonly [what: string, rows: readonly NameRow[], damaged: number[]])[] = [
  ['is gone', RIGHT.toSpliced(2, 1), []],
  ['has another text', RIGHT.toSpliced(2, 1, [3, 'x', RIGHT[2]![2]]), [3]],
  ['has the text of another', RIGHT.toSpliced(2, 1, [3, 'b', RIGHT[1]![2]]), [3]],
  ['has another checksum', RIGHT.toSpliced(2, 1, [3, 'c', 0]), [3]],
  ['has no text', RIGHT.toSpliced(2, 1, [3, null, RIGHT[2]![2]]), [3]],
  ['has another number', [...RIGHT.toSpliced(2, 1), [1003, 'c', RIGHT[2]![2]]], [1003]],
  ['has a number below all', [[-3, 'c', RIGHT[2]![2]], ...RIGHT.toSpliced(2, 1)], [-3]],
]

it.each(WRONG)(
  'reading ends before a name that %s, and the builder finds this name',
  (_, rows, damaged) => {
    const known = createKnownNames()
    known.add(rows)
    expect(known.last()).toBe(2)
    expect(known.numberOf('b', 2)).toBe(2)
    expect(checkNames(rows, 4)).toMatchObject({ last: 4, damaged, lost: [3] })
  },
)

it('a lost name after the last one is found by its number in segments', () => {
  expect(checkNames(RIGHT, 6)).toMatchObject({ last: 6, lost: [5, 6] })
  expect(checkNames([], 0)).toMatchObject({ last: 0, damaged: [], lost: [] })
})

it('a number that a damaged row also has is lost', () => {
  const { numbers, ...checked } = checkNames([...RIGHT, [4, 'x', 0]], 4)
  expect(checked).toMatchObject({ last: 4, damaged: [4], lost: [4] })
  expect([...numbers]).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ])
})

it('a name that was lost gets a new number, which older segments do not have', () => {
  const known = createKnownNames()
  known.add(RIGHT.toSpliced(2, 1, nameRow(3, null)))
  expect(known.last()).toBe(4)
  expect(known.numberOf('c', 4)).toBeUndefined()
  known.add([nameRow(5, 'c')])
  expect(known.numberOf('c', 4)).toBeUndefined()
  expect(known.numberOf('c', 5)).toBe(5)
})
