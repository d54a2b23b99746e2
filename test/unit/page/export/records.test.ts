import { describe, expect, it } from 'vitest'
import {
  createRecordSplitter,
  cutLine,
  type ExportFormat,
  fileName,
} from '../../../../adapters/page/export/records.js'

/** Splits the file into chunks of `size` bytes. Returns the content of a cut export. */
function parted(format: ExportFormat, text: string, size: number) {
  const bytes = new TextEncoder().encode(text)
  const splitter = createRecordSplitter(format)
  const written: Uint8Array[] = []
  let count = 0
  for (let at = 0; at < bytes.length; at += size) {
    const part = splitter.push(bytes.slice(at, at + size))
    written.push(...part.whole)
    count += part.count
  }
  const read = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString('utf8')
  return { written: read(written), rest: read(splitter.rest()), count }
}

const SIZES = [1, 2, 3, 7, 1000]

const NDJSON = '{"a":"ü€😀\\n\\""}\n{"a":2}\n'
const CSV = 'id,name\r\n1,"two\r\nlines, and ""quotes"""\r\n2,ü€😀\r\n'

describe('createRecordSplitter', () => {
  it.each(SIZES)('counts and returns whole lines in chunks of %i bytes', (size) => {
    expect(parted('ndjson', NDJSON, size)).toEqual({ written: NDJSON, rest: '', count: 2 })
    expect(parted('ndjson', `${NDJSON}{"a":"cut`, size)).toEqual({
      written: NDJSON,
      rest: '{"a":"cut',
      count: 2,
    })
  })

  it.each(SIZES)(
    'does not end a record at a line break in a quoted cell, in chunks of %i bytes',
    (size) => {
      expect(parted('csv', CSV, size)).toEqual({ written: CSV, rest: '', count: 2 })
      expect(parted('csv', `${CSV}3,"cut\r\n`, size)).toEqual({
        written: CSV,
        rest: '3,"cut\r\n',
        count: 2,
      })
    },
  )

  it('does not count the header record', () => {
    expect(parted('csv', 'id,name\r\n', 4)).toEqual({
      written: 'id,name\r\n',
      rest: '',
      count: 0,
    })
  })

  it.each(SIZES)('passes on Parquet, which has no records, in chunks of %i bytes', (size) => {
    expect(parted('parquet', 'PAR1\n"\nPAR1', size)).toEqual({
      written: 'PAR1\n"\nPAR1',
      rest: '',
      count: 0,
    })
  })

  it('returns the rest of a file without a final line break', () => {
    expect(parted('ndjson', '{"a":1}\n{"a":2}', 5).rest).toBe('{"a":2}')
  })
})

describe('a cut file', () => {
  it('is marked in its last line, in the format of the file', () => {
    expect(cutLine('ndjson', 1168, 2163)).toBe('{"cut":true,"events":1168,"of":2163}\n')
    expect(cutLine('ndjson', 1, undefined)).toBe('{"cut":true,"events":1}\n')
    expect(cutLine('csv', 1168, 2163)).toBe('"cut after 1168 of 2163 events"\r\n')
  })

  it('is marked in its name', () => {
    const time = new Date('2026-11-20T13:06:00.123Z')
    const at = { time, zone: 'UTC' }
    expect(fileName('csv', at)).toBe('events-2026-11-20T130600Z.csv')
    expect(fileName('ndjson', at, true)).toBe('events-2026-11-20T130600Z-cut.ndjson')
  })

  it('has the time of the zone in its name', () => {
    const time = new Date('2026-11-20T03:06:00.123Z')
    const nameIn = (zone: string): string => fileName('csv', { time, zone })
    expect(nameIn('Europe/Berlin')).toBe('events-2026-11-20T040600+0100.csv')
    expect(nameIn('America/St_Johns')).toBe('events-2026-11-19T233600-0330.csv')
  })
})
