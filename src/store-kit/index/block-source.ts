import type { AuditEvent, JsonValue } from '../../event/event.js'
import {
  type AttributeReader,
  eventAttributes,
  isPresent,
  type Scalar,
  someScalar,
} from '../../filter/attributes.js'
import type { Steps } from '../../filter/steps.js'
import { LazyEvent } from '../../event/lazy-event.js'
import { ANY_TEXT, isOwnField } from '../../event/own-fields.js'
import type { Column } from './column-table.js'
import { createColumns } from './columns.js'
import type { IndexBounds } from './index-bounds.js'
import { indexedValue } from './part.js'
import { partialEvents } from './partial-events.js'
import { anyOfPostings, EMPTY, listPostings, type FetchedPostings } from './postings.js'

/** Receives the values of one attribute, event by event. */
export interface ColumnSink {
  value(value: Scalar, ordinal: number): void
  /** Called if the name leads to an object or array that is not empty; maybe several times for one event. */
  container(ordinal: number): void
}

/** Passes the values that were added since the last call to the sink. */
export type ReadColumn = (sink: ColumnSink) => void

/** The events of an index in memory, which are added one by one. */
export interface BlockSource {
  /** Returns the rest of the work if there is much; it has to be done before the next addition. */
  add(event: AuditEvent): Steps<void> | undefined
  readonly size: number
  /** Approximate memory, without the events themselves. */
  readonly bytes: number
  /** False only if `read` passes nothing for the name. */
  mayLead(name: string): boolean
  read(name: string): ReadColumn
  /** See `IndexPart.partial`. */
  partial(name: string): FetchedPostings
  /** See `IndexPart.texts`, `IndexPart.sources` and `IndexPart.partialTexts`. */
  readTexts(): ReadColumn
  readSources(): ReadColumn
  partialTexts(): FetchedPostings
}

/**
 * Extracts the attributes of each event at once and does not keep the event. Of a `LazyEvent`, which is large and not
 * parsed, it lists only the own fields and the source, so any filter on attributes leads to it.
 */
export function extractedSource(bounds?: IndexBounds): BlockSource {
  const columns = createColumns(bounds)
  const { byName, otherNames, others, sources, partialTexts } = columns
  const unparsed: number[] = []
  return {
    add(event) {
      if (!(event instanceof LazyEvent)) return columns.add(event)
      unparsed.push(columns.size)
      return columns.add({ ...event, attributes: {} })
    },
    get size() {
      return columns.size
    },
    get bytes() {
      return columns.bytes
    },
    mayLead: (name) => byName.has(name),
    read: (name) => readColumn(() => byName.get(name)),
    readTexts: () => readTexts(byName),
    readSources: () => readColumn(() => sources),
    partialTexts: () => anyOfPostings([listPostings(partialTexts), listPostings(unparsed)]),
    partial(name) {
      const column = byName.get(name)
      const isWhole = otherNames.size === 0 && others.length === 0 && unparsed.length === 0
      if (isWhole && (!column || column.partial.length === 0)) return EMPTY
      // No list in memory has to wait.
      return partialEvents(name, {
        own: () => anyOfPostings([listPostings(column?.partial ?? []), listPostings(unparsed)]),
        hashed: (hash) => otherNames.find(hash),
        others: () => listPostings(others),
        hasColumn: () => column !== undefined,
      })!
    },
  }
}

function readColumn(find: () => Column | undefined): ReadColumn {
  let [value, container] = [0, 0]
  let column: Column | undefined
  return (sink) => {
    const current = find()
    // A name that lost its column and got another one: the events of the first are partial.
    if (current !== column) [value, container] = [0, 0]
    column = current
    const { values = [], ordinals = [], containers = [] } = current ?? {}
    for (; value < values.length; value++) sink.value(values[value]!, ordinals[value]!)
    for (; container < containers.length; container++) sink.container(containers[container]!)
  }
}

/** Reads the texts of all columns, event by event. */
function readTexts(byName: ReadonlyMap<string, Column>): ReadColumn {
  const read = new WeakMap<Column, number>()
  return (sink) => {
    const textsOf = new Map<number, string[]>()
    for (const column of byName.values()) {
      const { values, ordinals } = column
      for (let at = read.get(column) ?? 0; at < values.length; at++) {
        const value = values[at]!
        if (typeof value !== 'string') continue
        const texts = textsOf.get(ordinals[at]!)
        if (texts) texts.push(value)
        else textsOf.set(ordinals[at]!, [value])
      }
      read.set(column, values.length)
    }
    for (const ordinal of Array.from(textsOf.keys()).toSorted((a, b) => a - b))
      for (const text of textsOf.get(ordinal)!) sink.value(text, ordinal)
  }
}

const VALUE_BYTES = 48

// Further keys are not learnt: any name may lead to the values of such events.
const MAX_KEYS = 2048

/**
 * Keeps the events and reads an attribute from them when it is requested. `bytes` is the memory that the values
 * which `countValues` counts may take.
 */
export function keptSource(countValues: (event: AuditEvent) => number = () => 0): BlockSource {
  const events: AuditEvent[] = []
  const keys = new Set<string>()
  let bytes = 0

  const learnKeys = ({ attributes }: AuditEvent): void => {
    for (const key in attributes) {
      if (keys.size > MAX_KEYS) return
      keys.add(key)
    }
  }
  return {
    add(event) {
      events.push(event)
      learnKeys(event)
      bytes += VALUE_BYTES * countValues(event)
      return undefined
    },
    get size() {
      return events.length
    },
    get bytes() {
      return bytes
    },
    // A path to the name begins with one of these keys.
    mayLead(name) {
      if (isOwnField(name)) return true
      return keys.size > MAX_KEYS || firstKeysOf(name).some((key) => keys.has(key))
    },
    read: (name) => readEvents(events, eventAttributes, name),
    partial: () => EMPTY,
    readTexts: () => readEvents(events, eventAttributes.anyText!, ANY_TEXT),
    readSources: () => () => undefined,
    partialTexts: () => EMPTY,
  }
}

// The same name is looked up in many blocks in turn.
let lastName = ''
let lastFirstKeys: readonly string[] = ['']

/** The first keys of all paths whose joined keys give the name. */
function firstKeysOf(name: string): readonly string[] {
  if (name === lastName) return lastFirstKeys
  const firstKeys = [name]
  for (let end = name.indexOf('_'); end !== -1; end = name.indexOf('_', end + 1))
    firstKeys.push(name.slice(0, end))
  lastName = name
  return (lastFirstKeys = firstKeys)
}

function readEvents(
  events: readonly AuditEvent[],
  attributes: AttributeReader<AuditEvent>,
  name: string,
): ReadColumn {
  let ordinal = 0
  let into: ColumnSink | undefined
  const visit = (value: JsonValue): boolean => {
    if (typeof value === 'object' && isPresent(value)) into!.container(ordinal)
    return someScalar(value, (scalar) => {
      into!.value(indexedValue(scalar), ordinal)
      return false
    })
  }
  const walk = attributes.walk(name, (value) => value !== null && visit(value))
  return (sink) => {
    into = sink
    for (; ordinal < events.length; ordinal++) walk(events[ordinal]!)
  }
}
