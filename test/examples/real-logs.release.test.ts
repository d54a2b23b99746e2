import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { AuditLog, type AuditEvent, defineEventTypes, type JsonObject } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { describe, expect, it } from 'vitest'
import { recordLines } from '../../adapters/cli/importing/record-lines.js'
import { tempDir } from '../support/temp.js'

/*
 * Public logs of real systems, not part of this project: put the two files into a folder and name it
 * in DAYBOOK_TEST_DATA.
 */
const root = path.resolve(import.meta.dirname, '../..')
const folder = process.env['DAYBOOK_TEST_DATA'] ?? path.resolve(root, '../shared/data')
const cloudTrail = path.join(folder, 'aws-cloudtrail.ndjson')
const windows = path.join(folder, 'windows-security.ndjson.gz')
const isMissing = ![cloudTrail, windows].every((file) => fs.existsSync(file))

const linesIn = (content: Buffer): string[] =>
  content
    .toString()
    .split('\n')
    .filter((text) => text.trim() !== '')

const types = defineEventTypes({ 'import:windows:event': {} })

/** The times of these records are whole seconds. */
const occurredAt = (record: JsonObject): string =>
  (record['@timestamp'] as string).replace('.000Z', '.000000Z')

/** Reads all pages from the newest to the oldest, as a client of the feed does. */
async function readBack(audit: Pick<AuditLog, 'list'>): Promise<AuditEvent[]> {
  const pages: (readonly AuditEvent[])[] = []
  let before = ''
  for (;;) {
    const { events, truncated } = await audit.list(`limit=1000${before}`)
    pages.unshift(events)
    if (!truncated) return pages.flat()
    before = `&filter[created_at_lt]=${events[0]!.created_at}`
  }
}

describe.skipIf(isMissing)('real logs (skipped unless DAYBOOK_TEST_DATA holds them)', () => {
  it('25,993 Windows events recorded by concurrent calls come back exactly, once and in order', async () => {
    const temp = tempDir()
    const store = sqliteStore({ filename: temp.file('audit.db') })
    const audit = new AuditLog({ store, types })
    try {
      const lines = linesIn(gunzipSync(fs.readFileSync(windows)))
      expect(lines).toHaveLength(25_993)
      const ids: (string | undefined)[] = []
      for (let start = 0; start < lines.length; start += 5000) {
        const calls = lines
          .slice(start, start + 5000)
          .map((text) => audit.record('import:windows:event', JSON.parse(text) as JsonObject))
        for (const event of await Promise.all(calls)) ids.push(event?.id)
      }

      const events = await readBack(audit)
      expect(events).toHaveLength(lines.length)
      expect(events.map((event) => event.id)).toEqual(ids)
      expect(new Set(ids).size).toBe(lines.length)
      let previous = ''
      for (const [index, event] of events.entries()) {
        expect(event.created_at > previous).toBe(true)
        previous = event.created_at
        // Compares strings first: a deep comparison of all records would be slow.
        const payload = JSON.parse(lines[index]!) as JsonObject
        if (JSON.stringify(event.attributes) !== JSON.stringify(payload))
          expect(event.attributes).toEqual(payload)
      }
      expect(audit.stats()).toMatchObject({ calls: 25_993, stored: 25_993, waiting: 0 })
    } finally {
      await audit.close()
      temp.remove()
    }
  })

  it('CloudTrail records are imported whole and found by any field', async () => {
    const temp = tempDir()
    const store = sqliteStore({ filename: temp.file('audit.db') })
    const audit: AuditLog = new AuditLog({ store, types: {} })
    try {
      const fields = { type: 'eventName', user: 'userIdentity.userName', time: '@timestamp' }
      const summary = await recordLines({ audit, file: cloudTrail, ...fields })
      expect(summary).toMatchObject({ recorded: 103, malformed: 0, refused: 0, undated: 0 })
      const payloads = linesIn(fs.readFileSync(cloudTrail)).map(
        (text) => JSON.parse(text) as JsonObject,
      )
      const events = await readBack(audit)
      expect(events.map((event) => event.attributes)).toEqual(
        payloads.map((payload) => Object.assign(payload, { occurred_at: occurredAt(payload) })),
      )

      const byUser = await audit.list('filter[userIdentity_userName_eq]=pedro&limit=1000')
      expect(byUser.events).toEqual(events.filter((event) => event.username === 'pedro'))
      expect(byUser.events).toHaveLength(87)
      const sorts = 'filter[sorts][]=eventName&filter[sorts][]=occurred_at desc'
      const sorted = await audit.list(`${sorts}&limit=1000`)
      const keys = sorted.events.map(({ type, attributes }) => ({
        type,
        at: attributes['occurred_at'] as string,
      }))
      const expected = keys.toSorted(
        (a, b) => Number(a.type > b.type) - Number(a.type < b.type) || (a.at > b.at ? -1 : 1),
      )
      expect(keys.map(({ type, at }) => `${type} ${at}`)).toEqual(
        expected.map(({ type, at }) => `${type} ${at}`),
      )
    } finally {
      await audit.close()
      temp.remove()
    }
  })
})
