import { AuditLogError } from '../errors.js'
import { eventTypeFault } from '../event/event-types.js'
import type { JsonObject } from '../event/event.js'
import { type Duration, durationFault } from '../event/duration.js'
import { eventsTask } from './events-task.js'
import { readFilter } from './filters.js'
import { type Fault, readArchive } from './read-archive.js'
import { hostTask, statisticsTask } from './other-tasks.js'
import type { SealedNames } from '../filter/sealed-names.js'
import { errorType } from './run-events.js'
import { checkOptions } from '../options.js'
import {
  type CleaningRule,
  EVENTS_RULE,
  type EventsRule,
  HOST_RULE,
  type HostRule,
  STATISTICS_RULE,
} from './rule.js'
import { parseTimeOfDay, type Schedule } from './schedule.js'
import type { Rule } from './task.js'

const MAX_NAME_LENGTH = 100

/** Checks the rules. Throws `INVALID_OPTION`, whose message names the rule and the invalid member. */
export function readRules(rules: readonly CleaningRule[], sealed: SealedNames): Rule[] {
  if (!Array.isArray(rules)) throw new AuditLogError('INVALID_OPTION', 'rules must be a list')
  const read = (rules as readonly CleaningRule[]).map((rule, index) =>
    readRule(rule, index, sealed),
  )
  const names = read.map(({ name }) => name)
  const duplicate = names.find((name, index) => names.indexOf(name) < index)
  if (duplicate !== undefined) {
    const message = `there are two cleaning rules ${duplicate}: give them different names`
    throw new AuditLogError('INVALID_OPTION', message)
  }
  return read
}

function readRule(given: CleaningRule, index: number, sealed: SealedNames): Rule {
  const rule = Object(given) as CleaningRule
  const label: unknown = rule.name ?? rule.target
  const fault: Fault = (message) => {
    const at = typeof label === 'string' ? label : index
    return new AuditLogError('INVALID_OPTION', `cleaning rule ${at}: ${message}`)
  }
  const { target, name = target } = rule
  const isTarget = typeof target === 'string' && target !== ''
  if (!isTarget || eventTypeFault(errorType(target)) !== undefined)
    throw fault('target must be a text that is valid at the end of an event type')
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH)
    throw fault(`name must be a text of 1 to ${MAX_NAME_LENGTH} characters`)
  checkOptions(rule, namesOf(target), `cleaning rule ${name}`)
  const schedule = readSchedule(rule, fault)
  return { name, target, schedule, ...readTask(rule, sealed, fault) }
}

function namesOf(target: string): Parameters<typeof checkOptions>[1] {
  if (target === 'events') return EVENTS_RULE
  return target === 'statistics' ? STATISTICS_RULE : HOST_RULE
}

function readSchedule({ every, at }: CleaningRule, fault: Fault): Schedule | undefined {
  if (every !== undefined && at !== undefined) throw fault('cannot have both every and at')
  if (every !== undefined) return { every: readDuration(every, 'every', fault)! }
  if (at === undefined) return undefined
  const time = parseTimeOfDay(at)
  if (time === undefined) throw fault('at must be a time of day in UTC such as 03:30')
  return { at: time }
}

type ReadTask = Pick<Rule, 'task' | 'filters' | 'maxAge'>

function readTask(rule: CleaningRule, sealed: SealedNames, fault: Fault): ReadTask {
  if (rule.target === 'events') return readEvents(rule as EventsRule, sealed, fault)
  if (rule.target === 'statistics') return { task: statisticsTask, filters: {}, maxAge: undefined }
  return readHost(rule as HostRule, fault)
}

function readEvents(rule: EventsRule, sealed: SealedNames, fault: Fault): ReadTask {
  const { maxRows, maxBytes } = rule
  const maxAge = readDuration(rule.maxAge, 'maxAge', fault)
  const counts = Object.entries({ maxRows, maxBytes }).filter(([, count]) => count !== undefined)
  const invalid = counts.find(([, count]) => !Number.isSafeInteger(count) || count! < 0)
  if (invalid) throw fault(`${invalid[0]} must be a whole number of at least 0`)
  if (maxAge === undefined && counts.length === 0) throw fault('needs maxAge, maxRows or maxBytes')
  const archive = readArchive(rule, fault)
  const at = `cleaning rule ${rule.name ?? rule.target}: filter`
  // A filter that is undefined, as from a variable that is not set, must not match all events.
  if ('filter' in rule && rule.filter === undefined) throw fault('filter is undefined')
  const filter = rule.filter === undefined ? undefined : readFilter(rule.filter, at, sealed)
  const filters: JsonObject = {
    ...(filter && { filter: filter.text }),
    ...(maxAge && { max_age: { ...maxAge } }),
    ...(maxRows !== undefined && { max_rows: maxRows }),
    ...(maxBytes !== undefined && { max_bytes: maxBytes }),
  }
  return { task: eventsTask({ filter, maxAge, maxRows, maxBytes }, archive), filters, maxAge }
}

function readHost(rule: HostRule, fault: Fault): ReadTask {
  const { run, filters } = rule
  const maxAge = readDuration(rule.maxAge, 'maxAge', fault)
  if (typeof run !== 'function') throw fault('run must be a function')
  const isObject = filters !== null && typeof filters === 'object' && !Array.isArray(filters)
  if (filters !== undefined && !isObject) throw fault('filters must be an object')
  return {
    task: hostTask({ run, ...(maxAge && { maxAge }) }),
    filters: filters ?? { ...(maxAge && { max_age: { ...maxAge } }) },
    maxAge,
  }
}

function readDuration(
  duration: Duration | undefined,
  member: string,
  fault: Fault,
): Duration | undefined {
  const problem = duration === undefined ? undefined : durationFault(duration)
  if (problem !== undefined) throw fault(`${member} ${problem}`)
  return duration && { ...duration }
}
