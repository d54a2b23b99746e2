import type { JsonObject } from '../../../src/event/event.js'

/** A log as it stands on a terminal. */
export interface FoldedLog {
  readonly lines: readonly string[]
  /** How many lines were overwritten by the next. */
  readonly overwritten: number
}

/** How far the work is that the log's newest lines tell of. */
export interface LogProgress {
  /** `Receiving objects`; may be empty. */
  readonly label: string
  /** 0 to 100. */
  readonly percent: number
}

/** What the log is called that the event holds, and its text. */
export interface EventLog {
  readonly attribute: string
  readonly text: string
}

/** Attributes that hold what a program has printed. */
const LOG_NAMES = ['progress', 'fetch_output', 'output', 'log', 'stdout', 'stderr']

/** The log that an event holds: a text under one of the usual names that has more than one line, or grows. */
export function logOf(attributes: JsonObject, isLive: boolean): EventLog | undefined {
  const isLog = (name: string): boolean => {
    const text = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    return typeof text === 'string' && (isLive || /[\r\n]./.test(text))
  }
  const attribute = LOG_NAMES.find(isLog)
  return attribute === undefined ? undefined : { attribute, text: attributes[attribute] as string }
}

// What terminals are told by ESC [: colours, and to clear the line (ECMA-48, section 5.4).
// oxlint-disable-next-line no-control-regex
const CONTROL_SEQUENCES = /\x1B\[[0-?]*[ -/]*[@-~]/g

const linesOf = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Of what a carriage return overwrites, the last stays. */
export function foldLog(text: string): FoldedLog {
  let overwritten = 0
  const lines = linesOf(text.replaceAll(CONTROL_SEQUENCES, '')).map((line) => {
    if (!line.includes('\r')) return line
    const states = line.split('\r').filter((state) => state.trim() !== '')
    overwritten += Math.max(0, states.length - 1)
    return states.at(-1) ?? ''
  })
  return { lines, overwritten }
}

/** With every state that was overwritten, in lines of their own. */
export const unfoldedLines = (text: string): readonly string[] =>
  linesOf(text.replaceAll(CONTROL_SEQUENCES, '').replaceAll(/\r+\n?/g, '\n'))

const PERCENT = /^(.*?)(\d{1,3}(?:\.\d+)?)\s?%/

/** The newest percentage; `undefined` where the newest lines tell of none. */
export function progressOf(lines: readonly string[]): LogProgress | undefined {
  const newest = lines.slice(-3).findLast((line) => PERCENT.test(line))
  const [, before, percent] = PERCENT.exec(newest ?? '') ?? []
  if (before === undefined) return undefined
  const label = before.replace(/^remote:\s*/, '').replace(/[\s:([]+$/, '')
  return { label: label.trim(), percent: Math.min(100, Number(percent)) }
}
