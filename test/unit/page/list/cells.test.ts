import { expect, test } from 'vitest'
import { cellConjunct, withCell } from '../../../../adapters/page/list/cells.js'
import { levelConjunct } from '../../../../adapters/page/data/level-choice.js'
import { conditionOn, type PageQuery } from '../../../../adapters/page/data/query.js'
import { isSafePath } from '../../../../adapters/page/data/safe-path.js'
import { relaxedQueries } from '../../../../adapters/page/list/relaxed-queries.js'
import { eventOfMinute } from './events.js'

const event = eventOfMinute(1, {
  type: 'warning:pool:full',
  source: '/api/projects/acme',
  attributes: { change_id: 'e3', project_path: '/projects/acme', name: 'acme' },
})

test('a cell filters by its value, or excludes it', () => {
  expect(cellConjunct(event, 'who', false)).toEqual(conditionOn('username', 'eq', ['ann']))
  expect(cellConjunct(event, 'type', true)).toEqual(
    conditionOn('type', 'not_eq', ['warning:pool:full']),
  )
  expect(cellConjunct(event, 'level', false)).toEqual(
    levelConjunct({ levels: ['warn'], not: false }),
  )
  expect(cellConjunct(event, 'time', false)).toBeUndefined()
})

test('a row without a user filters by a missing user', () => {
  const unattended = eventOfMinute(1, { username: null })
  expect(cellConjunct(unattended, 'who', false)).toEqual(conditionOn('username', 'null'))
  expect(cellConjunct(unattended, 'who', true)).toEqual(conditionOn('username', 'not_null'))
})

test('a source filters by the attribute it was made from', () => {
  expect(cellConjunct(event, 'source', false)).toEqual(
    conditionOn('project_path', 'eq', ['/projects/acme']),
  )
  const change = eventOfMinute(1, { source: '/api/changes/e3', attributes: { change_id: 'e3' } })
  expect(cellConjunct(change, 'source', false)).toEqual(conditionOn('change_id', 'eq', ['e3']))
  const other = eventOfMinute(1, { source: '/elsewhere', attributes: { change_id: 'e3' } })
  expect(cellConjunct(other, 'source', false)).toBeUndefined()
  expect(cellConjunct(eventOfMinute(1), 'source', false)).toBeUndefined()
})

const eve = conditionOn('username', 'eq', ['eve'])
const ann = conditionOn('username', 'eq', ['ann'])
const query: PageQuery = { where: [eve], sorts: [], range: { last: '24h' } }

test('a value replaces another of the same attribute, and joins other filters', () => {
  expect(withCell(query, ann).where).toEqual([ann])
  const notAnn = conditionOn('username', 'not_eq', ['ann'])
  expect(withCell(query, notAnn).where).toEqual([eve, notAnn])
  const warn = levelConjunct({ levels: ['warn'], not: false })
  const error = levelConjunct({ levels: ['error'], not: false })
  expect(withCell({ ...query, where: [eve, warn] }, error).where).toEqual([eve, error])
})

test('a query is relaxed by each filter, and by its range', () => {
  const both = { ...query, where: [eve, ann] }
  expect(relaxedQueries(both)).toEqual([
    { query: { ...both, where: [ann] }, conjunct: eve },
    { query: { ...both, where: [eve] }, conjunct: ann },
    { query: { ...both, range: { last: '30d' } }, conjunct: undefined },
  ])
  expect(relaxedQueries({ ...query, where: [], range: {} })).toEqual([])
  expect(relaxedQueries({ ...query, where: [], range: { last: '30d' } })[0]!.query.range).toEqual(
    {},
  )
})

test.each([
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'javascript:alert(1)',
  '',
  'api',
])('%j is not a path on this host', (path) => {
  expect(isSafePath(path)).toBe(false)
})

test('a path on this host is safe', () => {
  expect(isSafePath('/api/changes/1')).toBe(true)
})
