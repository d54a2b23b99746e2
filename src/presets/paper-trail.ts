import type { JsonObject, JsonValue } from '../event/event.js'
import {
  idIn,
  keyOf,
  parsedIn,
  type Preset,
  type PresetEvent,
  textIn,
  timeIn,
  withFacts,
} from './preset.js'

const MAX_CHANGES = 100

/** A name at the beginning of a line of YAML. The values of members are indented, or lines that begin with a dash. */
const YAML_NAME = /^(\w+):/gm

/** The names of the changed columns, of an object, of JSON text or of YAML. */
function changedIn(changes: JsonValue | undefined): string[] {
  const names =
    typeof changes === 'string' && changes.startsWith('---')
      ? Array.from(changes.matchAll(YAML_NAME), ([, name]) => name!)
      : Object.keys(parsedIn(changes))
  return names.slice(0, MAX_CHANGES)
}

const pointerTo = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The changes in the form of events; `undefined` for YAML, whose values are not read. */
function changesIn(changes: JsonValue | undefined): JsonObject[] | undefined {
  const found = Object.entries(parsedIn(changes)).slice(0, MAX_CHANGES)
  const pairs = found.filter((pair): pair is [string, JsonValue[]] => Array.isArray(pair[1]))
  if (pairs.length === 0) return undefined
  return pairs.map(([name, [before = null, after = null]]) => ({
    op: 'replace',
    path: pointerTo(name),
    value: after,
    old_value: before,
  }))
}

function eventOf(record: JsonObject): PresetEvent | undefined {
  const {
    id,
    item_type: kind,
    event,
    whodunnit,
    object_changes: changes,
    created_at: time,
  } = record
  const item = idIn(record['item_id'])
  if (typeof kind !== 'string' || kind === '') return undefined
  if (typeof event !== 'string' || event === '' || item === undefined) return undefined
  // Rails sets `updated_at` with every change.
  const changed = changedIn(changes).filter((name) => name !== 'updated_at')
  return {
    type: `papertrail:${kind}:${event}`,
    username: idIn(whodunnit) ?? null,
    data: withFacts(record, {
      occurred_at: timeIn(time),
      item: `${kind} ${item}`,
      changed: changed.length > 0 ? changed : undefined,
      changes: changesIn(changes),
    }),
    key: keyOf(kind, idIn(id), textIn(time)),
  }
}

/**
 * Rows of the table `versions` of PaperTrail for Ruby on Rails, as `to_json` or SQL gives them. The type is
 * `papertrail:<item_type>:<event>`, such as `papertrail:Invoice:update`, and the user is `whodunnit`. Of `object_changes` the old
 * and new values are read from JSON columns and JSON text, and the names of the columns from YAML.
 */
export const paperTrail: Preset = {
  name: 'papertrail',
  customTypes: {
    'papertrail:*': {
      label: 'PaperTrail',
      sentence:
        '[{event=create}created **{item}**|{event=update}updated **{item}**[: {changed}]|{event=destroy}deleted **{item}**|**{event}** of **{item}**]' +
        '| [{event=create}**{item}** was created|{event=update}**{item}** was updated[: {changed}]|{event=destroy}**{item}** was deleted|**{event}** of **{item}**]',
      sentences: {
        de:
          '[{event=create}legte **{item}** an|{event=update}änderte **{item}**[: {changed}]|{event=destroy}löschte **{item}**|**{event}** von **{item}**]' +
          '| [{event=create}**{item}** wurde angelegt|{event=update}**{item}** wurde geändert[: {changed}]|{event=destroy}**{item}** wurde gelöscht|**{event}** von **{item}**]',
      },
    },
  },
  eventOf,
}
