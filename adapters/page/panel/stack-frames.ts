import type { JsonValue } from '../../../src/event/event.js'

/** A line of a backtrace, or the number of consecutive library lines. */
export type Frame = { readonly text: string } | { readonly libraries: number }

/** Matches frames of Node's own modules and of packages, also those of other languages. */
const LIBRARY =
  /\bnode:|[/\\](?:node_modules|gems|site-packages|dist-packages)[/\\]|<internal:|\(native\)|\(<anonymous>\)$|^async Promise\./

const JS_FRAME = /^\s*at /

/**
 * The lines of a backtrace given as text or list. The error message before the first frame of a
 * JavaScript stack is left out.
 */
export function frameLines(backtrace: JsonValue | undefined): readonly string[] {
  const lines = Array.isArray(backtrace)
    ? backtrace.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
    : typeof backtrace === 'string'
      ? backtrace.split('\n')
      : []
  const first = lines.findIndex((line) => JS_FRAME.test(line))
  return lines
    .slice(Math.max(0, first))
    .map((line) => line.replace(JS_FRAME, '').trim())
    .filter((line) => line !== '')
}

export const isLibrary = (line: string): boolean => LIBRARY.test(line)

/** Folds consecutive library lines into their number. */
export function foldFrames(lines: readonly string[]): readonly Frame[] {
  const frames: Frame[] = []
  for (const text of lines) {
    const last = frames.at(-1)
    if (!isLibrary(text)) frames.push({ text })
    else if (last && 'libraries' in last)
      frames[frames.length - 1] = { libraries: last.libraries + 1 }
    else frames.push({ libraries: 1 })
  }
  return frames
}

/** The reason of the failure as text: for an error object, its message. */
export function reasonText(error: JsonValue | undefined): string | undefined {
  if (error === undefined || error === null || error === '') return undefined
  if (typeof error === 'string') return error
  if (typeof error === 'object' && !Array.isArray(error) && typeof error['message'] === 'string')
    return error['message']
  return JSON.stringify(error)
}
