import type { AuditEvent, JsonValue } from '../../event/event.js'
import { eventAttributes, isPresent, type Scalar, someScalar } from '../../filter/attributes.js'
import { isOwnField } from '../../event/own-fields.js'
import { createColumns } from './columns.js'
import { indexedValue } from './part.js'

/** Is given what events have in one attribute, event by event. */
export interface ColumnSink {
  value(value: Scalar, ordinal: number): void
  /** The name leads to an object or an array that has members; may be told more than once. */
  container(ordinal: number): void
}

/** Gives what has come since it was last asked. */
export type ReadColumn = (sink: ColumnSink) => void

/** Events that are taken in one after another, as an index in memory has them. */
export interface BlockSource {
  add(event: AuditEvent): void
  readonly size: number
  /** False only where the name leads to nothing. */
  mayLead(name: string): boolean
  read(name: string): ReadColumn
  readonly unindexed: readonly number[]
}

/** Takes each event apart at once, and lets go of it. */
export function extractedSource(): BlockSource {
  const columns = createColumns()
  return {
    add: (event) => columns.add(event),
    get size() {
      return columns.size
    },
    mayLead: (name) => columns.byName.has(name),
    read(name) {
      let [value, container] = [0, 0]
      return (sink) => {
        const { values = [], ordinals = [], containers = [] } = columns.byName.get(name) ?? {}
        for (; value < values.length; value++) sink.value(values[value]!, ordinals[value]!)
        for (; container < containers.length; container++) sink.container(containers[container]!)
      }
    },
    unindexed: columns.unindexed,
  }
}

/** Keeps the events, and looks through them for the attributes that are asked for. */
export function keptSource(): BlockSource {
  const events: AuditEvent[] = []
  const keys = new Set<string>()
  /** The keys of so many of the events are known. */
  let keyed = 0

  const learnKeys = (): void => {
    for (; keyed < events.length; keyed++)
      for (const key in events[keyed]!.attributes) keys.add(key)
  }
  return {
    add: (event) => void events.push(event),
    get size() {
      return events.length
    },
    // Some event has to have a key with which a path to the name can begin.
    mayLead(name) {
      if (isOwnField(name)) return true
      learnKeys()
      return beginningsOf(name).some((key) => keys.has(key))
    },
    read: (name) => readEvents(events, name),
    unindexed: [],
  }
}

// One name is asked of many blocks.
let lastName = ''
let lastBeginnings: readonly string[] = ['']

/** The first keys of all paths that join to the name. */
function beginningsOf(name: string): readonly string[] {
  if (name === lastName) return lastBeginnings
  const beginnings = [name]
  for (let end = name.indexOf('_'); end !== -1; end = name.indexOf('_', end + 1))
    beginnings.push(name.slice(0, end))
  lastName = name
  return (lastBeginnings = beginnings)
}

function readEvents(events: readonly AuditEvent[], name: string): ReadColumn {
  let ordinal = 0
  let into: ColumnSink | undefined
  const visit = (value: JsonValue): boolean => {
    if (typeof value === 'object' && isPresent(value)) into!.container(ordinal)
    return someScalar(value, (scalar) => {
      into!.value(indexedValue(scalar), ordinal)
      return false
    })
  }
  const walk = eventAttributes.walk(name, (value) => value !== null && visit(value))
  return (sink) => {
    into = sink
    for (; ordinal < events.length; ordinal++) walk(events[ordinal]!)
  }
}
