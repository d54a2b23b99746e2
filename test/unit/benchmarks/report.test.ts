import fs from 'node:fs'
import { expect, it } from 'vitest'
import { perSecond, milliseconds } from '../../../benchmarks/harness/format.js'
import { goalsOf, linesOf, writeReport } from '../../../benchmarks/harness/report.js'
import type { Table } from '../../../benchmarks/harness/suite.js'
import { SUITES } from '../../../benchmarks/suites/index.js'
import { tempDir } from '../../support/temp.js'

const RATES: Table = {
  title: 'Rates',
  rows: [
    {
      name: 'one',
      ours: [100, 300, 200],
      theirs: [200, 300, 100],
      against: 'other',
      print: perSecond,
      goal: { ratio: { atLeast: 2 }, figure: { atMost: 200 } },
    },
  ],
}

const TIMES: Table = {
  title: 'Times',
  rows: [
    {
      name: 'a list',
      ours: [2],
      theirs: [8],
      print: milliseconds,
      isFaster: true,
      note: 'p99 3 ms',
      goal: { figure: { atMost: 1 }, isExact: false },
    },
  ],
}

it('takes ratios within rounds, and says how far a goal was missed', () => {
  expect(linesOf(RATES)).toEqual([
    '### Rates',
    '',
    '| | Daybook | compared with | ratio | goal |',
    '| :- | -: | -: | -: | -: |',
    '| one | 200/s [100/s–300/s] | other: 200/s [100/s–300/s] | 1.0× [0.50×–2.0×] | at most 200/s: met; **at least 2.0×: 50 % short** |',
    '',
  ])
})

it('inverts ratios of times, so that they express the speed of Daybook', () => {
  expect(linesOf(TIMES).at(-2)).toBe(
    '| a list | 2.0 ms, p99 3 ms | 8.0 ms | 4.0× | **at most 1.0 ms: 2.0× the limit**; **exact: estimated** |',
  )
})

it('lists the goals that were missed', () => {
  expect(goalsOf([RATES, TIMES])).toEqual([
    '1 of 4 goals are met.',
    '- Rates: one: at least 2.0×: 50 % short',
    '- Times: a list: at most 1.0 ms: 2.0× the limit',
    '- Times: a list: exact: estimated',
  ])
  expect(goalsOf([])).toEqual([])
})

it('writes a report, replaces the section of one suite, and refuses one that has no section', () => {
  const temp = tempDir()
  try {
    const file = temp.file('results.md')
    const found = (name: string, tables: Table[]) => ({ name, title: name, summary: 'A', tables })
    writeReport(file, [found('first', [RATES]), found('second', [TIMES])], ['- a machine'])
    const before = fs.readFileSync(file, 'utf8')
    expect(before).toContain('- a machine')
    expect(before).toContain('1 of 4 goals are met.')
    writeReport(file, [found('first', [TIMES])], undefined)
    const after = fs.readFileSync(file, 'utf8')
    expect(after).not.toContain('### Rates')
    expect(after.match(/### Times/g)).toHaveLength(2)
    expect(after.split('<!-- suite:second -->')[1]).toBe(before.split('<!-- suite:second -->')[1])
    expect(() => writeReport(file, [found('third', [])], undefined)).toThrow('third')
  } finally {
    temp.remove()
  }
})

it('names each part once, and gives each suite a title that pages can link to', () => {
  const all = Object.values(SUITES)
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length)
  for (const { parts } of all) expect(new Set(parts).size).toBe(parts.length)
})
