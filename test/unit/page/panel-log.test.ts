import { describe, expect, it } from 'vitest'
import {
  foldLog,
  logOf,
  progressOf,
  unfoldedLines,
} from '../../../adapters/page/panel/log-lines.js'

const CLONE =
  "Cloning into 'x'...\nremote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.\r\n" +
  'Receiving objects:  12% (1/8)\rReceiving objects:  62% (5/8), 18.4 MiB | 6.1 MiB/s\r'

describe('foldLog', () => {
  it('keeps of what was overwritten the last', () => {
    expect(foldLog(CLONE)).toEqual({
      lines: [
        "Cloning into 'x'...",
        'remote: Counting objects: 100% (2/2), done.',
        'Receiving objects:  62% (5/8), 18.4 MiB | 6.1 MiB/s',
      ],
      overwritten: 2,
    })
  })

  it('takes a carriage return with a line feed for the end of a line', () => {
    expect(foldLog('one\r\ntwo\r\n')).toEqual({ lines: ['one', 'two'], overwritten: 0 })
  })

  it('keeps empty lines but the last', () => {
    expect(foldLog('one\n\ntwo\n').lines).toEqual(['one', '', 'two'])
    expect(foldLog('').lines).toEqual([])
  })

  it('drops what tells a terminal of colours', () => {
    expect(foldLog('\u001B[1;31mfailed\u001B[0m\u001B[K').lines).toEqual(['failed'])
  })
})

describe('unfoldedLines', () => {
  it('gives each state a line of its own', () => {
    expect(unfoldedLines(CLONE)).toEqual([
      "Cloning into 'x'...",
      'remote: Counting objects:  50% (1/2)',
      'remote: Counting objects: 100% (2/2), done.',
      'Receiving objects:  12% (1/8)',
      'Receiving objects:  62% (5/8), 18.4 MiB | 6.1 MiB/s',
    ])
  })
})

describe('progressOf', () => {
  it('reads the newest percentage, and what it is of', () => {
    expect(progressOf(foldLog(CLONE).lines)).toEqual({ label: 'Receiving objects', percent: 62 })
  })

  it('leaves out who tells it', () => {
    expect(progressOf(['remote: Compressing objects:  7% (1/14)'])).toEqual({
      label: 'Compressing objects',
      percent: 7,
    })
  })

  it('passes over old percentages', () => {
    expect(progressOf(['load 50 %', 'a', 'b', 'c'])).toBeUndefined()
  })

  it('never gives more than all', () => {
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

  it('takes a single line only of an event that may grow', () => {
    expect(logOf({ progress: '' }, false)).toBeUndefined()
    expect(logOf({ progress: '' }, true)).toEqual({ attribute: 'progress', text: '' })
    expect(logOf({ progress: 62 }, true)).toBeUndefined()
  })
})
