import type { JsonObject } from '../../../src/event/event.js'

/** A log as a terminal would show it. */
export interface RenderedLog {
  readonly lines: readonly string[]
  /** The number of overwritten lines. */
  readonly overwritten: number
}

/** Progress, read from the newest lines of a log. */
export interface LogProgress {
  /** `Receiving objects`; may be empty. */
  readonly label: string
  /** 0 to 100. */
  readonly percent: number
}

/** The log of an event: the name of its attribute, and its text. */
export interface EventLog {
  readonly attribute: string
  readonly text: string
}

/** Names of attributes that usually contain the output of a program. */
const LOG_NAMES = ['progress', 'fetch_output', 'output', 'log', 'stdout', 'stderr']

/** The log of an event: a text attribute with one of the usual names that is live or has more than one line. */
export function logOf(attributes: JsonObject, isLive: boolean): EventLog | undefined {
  const isLog = (name: string): boolean => {
    const text = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    return typeof text === 'string' && (isLive || /[\r\n]./.test(text))
  }
  const attribute = LOG_NAMES.find(isLog)
  return attribute === undefined ? undefined : { attribute, text: attributes[attribute] as string }
}

// Terminal control sequences, such as colours and clearing the line (ECMA-48, section 5.4).
// oxlint-disable-next-line no-control-regex
const CONTROL_SEQUENCES = /\x1B\[[0-?]*[ -/]*[@-~]/g

const linesOf = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Applies carriage returns as a terminal does: keeps the last state of each line. */
export function renderLog(text: string): RenderedLog {
  let overwritten = 0
  const lines = linesOf(text.replaceAll(CONTROL_SEQUENCES, '')).map((line) => {
    if (!line.includes('\r')) return line
    const states = line.split('\r').filter((state) => state.trim() !== '')
    overwritten += Math.max(0, states.length - 1)
    return states.at(-1) ?? ''
  })
  return { lines, overwritten }
}

/** All lines. Each overwritten state is a separate line. */
export const allLines = (text: string): readonly string[] =>
  linesOf(text.replaceAll(CONTROL_SEQUENCES, '').replaceAll(/\r+\n?/g, '\n'))

const PERCENT = /^(.*?)(\d{1,3}(?:\.\d+)?)\s?%/

/** The newest percentage; `undefined` if the last three lines have none. */
export function progressOf(lines: readonly string[]): LogProgress | undefined {
  const newest = lines.slice(-3).findLast((line) => PERCENT.test(line))
  const [, before, percent] = PERCENT.exec(newest ?? '') ?? []
  if (before === undefined) return undefined
  const label = before.replace(/^remote:\s*/, '').replace(/[\s:([]+$/, '')
  return { label: label.trim(), percent: Math.min(100, Number(percent)) }
}
