import fs from 'node:fs'
import path from 'node:path'
import { parseQuery } from 'daybook'
import { expect, it } from 'vitest'
import { predicates } from '../../src/filter/predicates.js'
import { generatedDocs } from '../support/docs.js'

it.each([...generatedDocs()].map(([file, text]) => [path.basename(file), file, text]))(
  '%s says what the code says (npm run docs)',
  (_name, file, text) => {
    expect(fs.readFileSync(file, 'utf8')).toBe(text)
  },
)

/** The rows of the README's table of predicates: the name, and the query that shows it. */
function predicateRows(): [name: string, example: string][] {
  const readme = fs.readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const [, table = ''] = /<!-- predicates -->([^]*)<!-- \/predicates -->/.exec(readme) ?? []
  return [...table.matchAll(/^\| `(\w+)` \| `(.+?)` \|/gm)].map(([, name, example]) => [
    name!,
    example!,
  ])
}

it('README.md has each predicate', () => {
  const plain = [...predicates.values()].filter(({ compound }) => compound === undefined)
  expect(
    predicateRows()
      .map(([name]) => name)
      .toSorted(),
  ).toEqual(plain.map(({ name }) => name).toSorted())
})

it.each(predicateRows())('README.md has an example of %s that reads as it', (name, example) => {
  const { where } = parseQuery(example)
  expect(where?.conditions.map(({ predicate }) => predicate)).toEqual([name])
  expect(where?.groupings).toEqual([])
})
