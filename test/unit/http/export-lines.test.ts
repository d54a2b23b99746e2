import { AuditLog, type AuditEvent } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { expect, it } from 'vitest'
import { exportHandler } from '../../../src/http/events/export.js'
import { createLogSources } from '../../../src/http/events/log-source.js'
import { exportLines } from '../../../src/exporting/lines.js'
import { turnsDuring } from '../../support/turns.js'
import { plainEvent } from '../../support/plain-events.js'

const MANY = 20_000
const COLUMNS = 10

/** Finding a few of the names takes more than the budget of work at once. */
const wide = Array.from({ length: MANY }, (_, i) => (i < 2 ? { a0: i } : { a1: null }))
const ALL = { where: undefined, concealed: undefined }
const NAMES = Array.from({ length: COLUMNS }, (_, i) => `wide_a${i}`)

const event = plainEvent({ username: 'ann', attributes: { wide, text: 'a,b' } })

const { line } = exportLines.csv({ columns: [...NAMES, 'text'], service: 'daybook' })

it('the row of an event of many values is written in pieces', () => {
  const pieces = line({ event })
  if (typeof pieces === 'string') throw new Error('the row was written at once')
  const all = [...pieces]
  expect(all.filter((piece) => piece === undefined).length).toBeGreaterThan((COLUMNS * MANY) / 1000)
  expect(all.join('')).toMatch(/,ann,.*,"\[0,1\]",{10}"a,b"\r\n$/)
})

it('a long value in many columns is written in pieces', () => {
  let nested: AuditEvent['attributes'] = { text: 'x'.repeat(100_000) }
  for (let depth = 0; depth < 20; depth++) nested = { a: nested }
  const names = Array.from({ length: 20 }, (_, i) =>
    Array(i + 1)
      .fill('a')
      .join('_'),
  )
  const lines = exportLines.csv({ columns: names, service: 'daybook' })
  expect(lines.line({ event: { ...event, attributes: nested } })).not.toBeTypeOf('string')
  expect(lines.line({ event: { ...event, attributes: { a: 1 } } })).toBeTypeOf('string')
})

it('a row that takes little work is written at once, like the same row in pieces', () => {
  const few = line({ event: { ...event, attributes: { wide: wide.slice(0, 10), text: 'a,b' } } })
  const pieces = line({ event })
  expect(few).toBe([...pieces].join(''))
})

it('the event loop runs while an export writes such a row', async () => {
  await using audit = new AuditLog({ store: memoryStore(), types: {} })
  await audit.recordSystem('export:wide', { wide })
  const { signal } = new AbortController()
  const { body } = await exportHandler('daybook')({
    request: {
      method: 'GET',
      path: '/events/export',
      query: `format=csv&fields[event]=${NAMES.join(',')}`,
      username: 'ann',
      context: undefined,
      signal,
      header: () => '',
      body: async () => new Uint8Array(),
    },
    username: 'ann',
    source: () => createLogSources({ audit, path: '/events' })(ALL, { signal, personal: 'sealed' }),
    reportRead: async () => {},
  })
  const turns = await turnsDuring(async () => {
    for await (const chunk of body as AsyncIterable<string>) expect(chunk).not.toBe('')
  })
  expect(turns).toBeGreaterThanOrEqual(5)
})
