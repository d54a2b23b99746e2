import { describe, expect, it } from 'vitest'
import {
  renderLog,
  logOf,
  progressOf,
  allLines,
} from '../../../../adapters/page/panel/log-lines.js'

const CLONE =
  "Cloning into 'x'...\nremote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.\r\n" +
  'Receiving objects:  12% (1/8)\rReceiving objects:  62% (5/8), 18.4 MiB | 6.1 MiB/s\r'

describe('renderLog', () => {
  it('keeps the last state of an overwritten line', () => {
    expect(renderLog(CLONE)).toEqual({
      lines: [
        "Cloning into 'x'...",
        'remote: Counting objects: 100% (2/2), done.',
        'Receiving objects:  62% (5/8), 18.4 MiB | 6.1 MiB/s',
      ],
      overwritten: 2,
    })
  })

  it('treats a carriage return with a line feed as a line end', () => {
    expect(renderLog('one\r\ntwo\r\n')).toEqual({ lines: ['one', 'two'], overwritten: 0 })
  })

  it('keeps empty lines except the last', () => {
    expect(renderLog('one\n\ntwo\n').lines).toEqual(['one', '', 'two'])
    expect(renderLog('').lines).toEqual([])
  })

  it('removes colour codes of terminals', () => {
    expect(renderLog('\u001B[1;31mfailed\u001B[0m\u001B[K').lines).toEqual(['failed'])
  })
})

describe('allLines', () => {
  it('puts each state on its own line', () => {
    expect(allLines(CLONE)).toEqual([
      "Cloning into 'x'...",
      'remote: Counting objects:  50% (1/2)',
      'remote: Counting objects: 100% (2/2), done.',
      'Receiving objects:  12% (1/8)',
      'Receiving objects:  62% (5/8), 18.4 MiB | 6.1 MiB/s',
    ])
  })
})

describe('progressOf', () => {
  it('reads the newest percentage and its label', () => {
    expect(progressOf(renderLog(CLONE).lines)).toEqual({ label: 'Receiving objects', percent: 62 })
  })

  it('removes the prefix `remote:`', () => {
    expect(progressOf(['remote: Compressing objects:  7% (1/14)'])).toEqual({
      label: 'Compressing objects',
      percent: 7,
    })
  })

  it('ignores percentages of older lines', () => {
    expect(progressOf(['load 50 %', 'a', 'b', 'c'])).toBeUndefined()
  })

  it('never returns more than 100', () => {
    expect(progressOf(['120 %'])).toEqual({ label: '', percent: 100 })
  })
})

describe('logOf', () => {
  it('finds a text under a usual name', () => {
    expect(logOf({ name: 'x\ny', fetch_output: 'a\nb' }, false)).toEqual({
      attribute: 'fetch_output',
      text: 'a\nb',
    })
  })

  it('accepts a single line only for a live event', () => {
    expect(logOf({ progress: '' }, false)).toBeUndefined()
    expect(logOf({ progress: '' }, true)).toEqual({ attribute: 'progress', text: '' })
    expect(logOf({ progress: 62 }, true)).toBeUndefined()
  })
})
