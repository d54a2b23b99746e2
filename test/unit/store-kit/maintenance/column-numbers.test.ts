import { expect, it } from 'vitest'
import { admittedColumns } from '../../../../src/store-kit/maintenance/column-numbers.js'
import { addToOtherNames } from '../../../../src/store-kit/index/columns.js'
import type { Column } from '../../../../src/store-kit/index/column-table.js'
import { createOtherNames, nameHash } from '../../../../src/store-kit/index/other-names.js'
import { ordinalsOf } from '../../../support/index-values.js'

const column = (name: string, ...ordinals: number[]): Column => ({
  name,
  values: ordinals.map(() => 1),
  ordinals,
  containers: [],
  partial: [],
})

const columns = [
  column('once', 3),
  column('twice', 1, 2),
  column('often', 1, 2, 3),
  column('one', 3, 3),
]

const admitted = (numbered: number): readonly string[] =>
  admittedColumns(columns, numbered).map(({ name }) => name)

it('with many names in all, only names of several events get numbers, and from some number on no name does', () => {
  expect(admitted(0)).toEqual(['once', 'twice', 'often', 'one'])
  expect(admitted(8191)).toEqual(['once', 'twice', 'often'])
  expect(admitted(8192)).toEqual(['twice', 'often'])
  expect(admitted(65_535)).toEqual(['twice'])
  expect(admitted(65_536)).toEqual([])
})

it('names that Postgres cannot keep get no numbers', () => {
  const odd = [column('a\0', 1, 2), column('\ud800', 1, 2), column('', 1, 2)]
  expect(admittedColumns(odd, 0)).toEqual(odd.slice(2))
})

it('a store never numbers more names than the limit, even if many segments have unique names', () => {
  let numbered = 0
  for (let segment = 0; segment < 100; segment++) {
    const own = Array.from({ length: 2000 }, (_, i) => column(`own-${segment}-${i}`, 1))
    numbered += admittedColumns(own, numbered).length
  }
  expect(numbered).toBe(8192)
})

it('the events of a column without a number are found by its name', () => {
  const names = createOtherNames()
  addToOtherNames(names, { ...column('lost', 5, 9), containers: [1, 9], partial: [7] })
  addToOtherNames(names, column('other', 2))
  expect(ordinalsOf(names.find(nameHash('lost')))).toEqual([1, 5, 7, 9])
  const lists = Array.from(names.entries(), ({ value, ordinals }) => [value, Array.from(ordinals)])
  expect(lists.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual(lists)
  expect(lists).toContainEqual([nameHash('lost'), [1, 5, 7, 9]])
  expect(lists).toContainEqual([nameHash('other'), [2]])
})
