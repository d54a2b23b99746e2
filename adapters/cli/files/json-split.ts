import { MAX_LINE_BYTES } from './json-lines.js'

/** The text of one value, and the number of its first line. */
export interface Piece {
  readonly bytes: Buffer
  readonly line: number
}

export interface Splitter {
  /** Returns the values that end within these bytes. */
  push(chunk: Buffer): Piece[]
  /** Returns the rest, if the text ends within a value. */
  end(): Piece[]
}

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a]
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The index after the end of a string that begins before `at`; the length if it does not end. */
function endOfText(bytes: Buffer, at: number): number {
  for (let i = at; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH) i++
    else if (bytes[i] === QUOTE) return i + 1
  }
  return bytes.length
}

/**
 * The index after the bracket of the first list that is a member with one of the names. -1 if a member with another
 * name, not in `beside`, comes before.
 */
export function listStart(
  bytes: Buffer,
  isList: (name: string) => boolean,
  isBeside: (name: string) => boolean,
): number {
  let [depth, name] = [0, '']
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) {
      const end = endOfText(bytes, i + 1)
      if (depth === 1 && /^\s*:/.test(bytes.toString('latin1', end, end + 64))) {
        name = bytes.toString('utf8', i + 1, end - 1)
        if (!isList(name) && !isBeside(name)) return -1
      }
      i = end - 1
    } else if (byte === OPEN_LIST && depth === 1 && isList(name)) {
      return i + 1
    } else if (byte === OPEN || byte === OPEN_LIST) {
      depth++
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth--
    }
  }
  return -1
}

interface State {
  /** The bytes of the current value. Only the beginning of a long value is kept. */
  parts: Buffer[]
  length: number
  /** Line in which the current value has begun; 0 between values. */
  begunAt: number
  line: number
  /** Number of open containers, and number of open containers outside of the current value. */
  depth: number
  level: number
  isInText: boolean
  isEscaped: boolean
  /** True between the end of the list of an object and the end of the object. */
  isAfterList: boolean
}

const between = (line: number, depth: number): State => ({
  parts: [],
  length: 0,
  begunAt: 0,
  line,
  depth,
  level: depth,
  isInText: false,
  isEscaped: false,
  isAfterList: false,
})

function add(state: State, bytes: Buffer): void {
  if (state.length <= MAX_LINE_BYTES) state.parts.push(bytes)
  state.length += bytes.length
}

function finish(state: State, bytes: Buffer): Piece {
  add(state, bytes)
  const piece = { bytes: Buffer.concat(state.parts), line: state.begunAt || state.line }
  Object.assign(state, { parts: [], length: 0, begunAt: 0 })
  return piece
}

function close(state: State): void {
  state.depth = Math.max(state.depth - 1, 0)
  if (state.depth >= state.level) return
  state.isAfterList = state.depth > 0
  state.level = 0
}

/** The values that end in the chunk. The rest of the chunk is the beginning of the next value. */
function scan(state: State, chunk: Buffer): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  const begin = (at: number): void => {
    if (state.begunAt > 0 || state.isAfterList) return
    state.begunAt = state.line
    start = at
  }
  const endAt = (end: number): void => {
    if (state.begunAt === 0 || state.depth !== state.level) return
    pieces.push(finish(state, chunk.subarray(start, end)))
  }
  for (let i = 0; i < chunk.length; i++) {
    const byte = chunk[i]!
    if (state.isInText) {
      if (state.isEscaped) state.isEscaped = false
      else if (byte === BACKSLASH) state.isEscaped = true
      else if (byte === QUOTE) state.isInText = false
    } else if (byte === QUOTE) {
      begin(i)
      state.isInText = true
    } else if (byte === OPEN || byte === OPEN_LIST) {
      if (byte === OPEN_LIST && state.depth === 0) state.level = 1
      else begin(i)
      state.depth++
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      // A number or a word ends before the bracket, a list or an object with it.
      endAt(i)
      close(state)
      endAt(i + 1)
      if (state.depth === 0) state.isAfterList = false
    } else if (byte === COMMA || byte <= 0x20) {
      endAt(i)
      if (byte === NEWLINE) state.line++
    } else {
      begin(i)
    }
  }
  if (state.begunAt > 0) add(state, chunk.subarray(start))
  return pieces
}

/**
 * Splits JSON text into values, without regard to lines: the elements of lists, and the values between lists.
 * `openList` handles an object that is too long for one value. It returns the index after the bracket of the object's
 * list, or -1 without a list. The elements of this list are the next values. Holds at most one value, or the
 * beginning of a longer one. `within` is the number of containers around the text.
 */
export function createSplitter(openList: (bytes: Buffer) => number, within = 0): Splitter {
  let state = between(1, within)
  /** The elements of the list in a value that is too long. */
  const opened = (): Piece[] => {
    const whole = Buffer.concat(state.parts)
    const at = openList(whole)
    if (at === -1) return []
    state = between(state.begunAt + newlinesIn(whole.subarray(0, at)), 2)
    return scan(state, whole.subarray(at))
  }
  return {
    push(chunk) {
      const wasLong = state.length > MAX_LINE_BYTES
      const pieces = scan(state, chunk)
      const isLong = state.length > MAX_LINE_BYTES && state.level === 0
      return isLong && (!wasLong || pieces.length > 0) ? [...pieces, ...opened()] : pieces
    },
    end: () => (state.begunAt === 0 && state.depth === 0 ? [] : [finish(state, Buffer.alloc(0))]),
  }
}

export const newlinesIn = (bytes: Buffer): number => bytes.toString('latin1').split('\n').length - 1
