import type { AuditEvent } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Steps } from '../../filter/steps.js'
import type { BlockSource, ReadColumn } from './block-source.js'
import { type ColumnIndex, createColumnIndex, lowerBound } from './column-index.js'
import { type IndexPart, Kind } from './part.js'
import { EMPTY } from './postings.js'

/** Events in the order of their times, with an index of each attribute that has been requested. */
export interface Block {
  readonly size: number
  readonly last: Microseconds
  /** Approximate memory, without the events themselves. */
  readonly bytes: number
  /**
   * The event must be later than all events of the block. Returns the rest of the work if there is much; it has to
   * be done before the next addition.
   */
  add(time: Microseconds, event: AuditEvent): Steps<void> | undefined
  /** The events so far; a later search in the part may also find events that were added since. */
  part(): IndexPart
}

interface CachedColumn extends ColumnIndex {
  /** Number of events whose values are in it. */
  upTo: number
}

// Queries may ask for any number of names.
const MAX_COLUMNS = 256

export function createBlock(id: string, createSource: () => BlockSource): Block {
  const times: Microseconds[] = []
  const source = createSource()
  const columns = new Map<string, CachedColumn>()
  let texts: CachedColumn | undefined
  let sources: CachedColumn | undefined
  let part: IndexPart | undefined

  const cached = (read: ReadColumn): CachedColumn => ({ ...createColumnIndex(read), upTo: 0 })
  const caughtUp = (column: CachedColumn): ColumnIndex => {
    if (column.upTo < times.length) {
      column.catchUp()
      column.upTo = times.length
    }
    return column
  }
  const columnOf = (name: string): ColumnIndex | undefined => {
    let column = columns.get(name)
    if (!column) {
      if (!source.mayLead(name)) return undefined
      column = cached(source.read(name))
      columns.set(name, column)
      if (columns.size > MAX_COLUMNS) columns.delete(columns.keys().next().value!)
    }
    return caughtUp(column)
  }
  const makePart = (): IndexPart => {
    const size = times.length
    return {
      id,
      ...timesOf(times, size),
      values: (name, kind, order, from) => columnOf(name)?.values(kind, order, from) ?? [],
      inAnyOrder: (name, kind) => columnOf(name)?.inAnyOrder(kind) ?? [],
      search: (name, kind, search) => columnOf(name)?.search(kind, search) ?? [],
      mayHave(name, value) {
        if (source.partial(name).size > 0) return true
        const column = columns.get(name)
        return column?.upTo === times.length ? column.mayHave(value) : source.mayLead(name)
      },
      find: (name, value) => columnOf(name)?.find(value) ?? EMPTY,
      valued: (name) => columnOf(name)?.valued(size) ?? EMPTY,
      containers: (name) => columnOf(name)?.containers() ?? EMPTY,
      partial: (name) => source.partial(name),
      texts: (search) => caughtUp((texts ??= cached(source.readTexts()))).search(Kind.text, search),
      sources: (search) =>
        caughtUp((sources ??= cached(source.readSources()))).search(Kind.text, search),
      partialTexts: () => source.partialTexts(),
    }
  }
  return {
    get size() {
      return times.length
    },
    get last() {
      return times.at(-1) ?? -Infinity
    },
    get bytes() {
      return source.bytes
    },
    add(time, event) {
      times.push(time)
      part = undefined
      return source.add(event)
    },
    part: () => (part ??= makePart()),
  }
}

function timesOf(
  times: readonly Microseconds[],
  size: number,
): Pick<IndexPart, 'size' | 'first' | 'last' | 'timeOf' | 'countBefore'> {
  return {
    size,
    first: times[0] ?? 0,
    last: times[size - 1] ?? 0,
    timeOf: (ordinal) => times[ordinal]!,
    countBefore: (time) => lowerBound(size, (at) => times[at]! < time),
  }
}
