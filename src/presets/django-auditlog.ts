import type { JsonObject, JsonValue } from '../event/event.js'
import {
  addressIn,
  idIn,
  keyOf,
  objectIn,
  parsedIn,
  type Preset,
  type PresetEvent,
  textIn,
  timeIn,
  withFacts,
} from './preset.js'

/** The names of the numbers in `action`. */
const ACTIONS = ['create', 'update', 'delete', 'access'] as const

const MAX_CHANGES = 100

/** Returns the fields of an entry, also from the form of Django's serializers. */
function rowOf(record: JsonObject): JsonObject | undefined {
  const { model, pk = null, fields } = record
  if (model === undefined) return record
  return model === 'auditlog.logentry' ? { id: pk, ...objectIn(fields) } : undefined
}

/** A natural key, such as `['shop', 'product']`. */
const naturalKey = (value: JsonValue | undefined): string | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string')
    ? value.join('.')
    : undefined

/** `shop.product`, or the id of the content type. */
function modelOf(row: JsonObject): string | undefined {
  const { content_type: type, content_type_id: id } = row
  const [app, model] = [textIn(row['content_type__app_label']), textIn(row['content_type__model'])]
  const joined = app === undefined ? model : model && `${app}.${model}`
  return joined ?? naturalKey(type) ?? idIn(type) ?? idIn(id)
}

function usernameOf(row: JsonObject): string | null {
  const { actor__username: joined, actor, actor_email: email, actor_id: id } = row
  return textIn(joined) ?? naturalKey(actor) ?? idIn(actor) ?? textIn(email) ?? idIn(id) ?? null
}

function eventOf(record: JsonObject): PresetEvent | undefined {
  const row = rowOf(record)
  const action = typeof row?.['action'] === 'number' ? ACTIONS[row['action']] : undefined
  const model = row && modelOf(row)
  if (row === undefined || action === undefined || model === undefined) return undefined
  if (!Object.hasOwn(row, 'object_repr') && !Object.hasOwn(row, 'object_pk')) return undefined
  const changed = Object.keys(parsedIn(row['changes'])).slice(0, MAX_CHANGES)
  return {
    type: `django:${model}:${action}`,
    username: usernameOf(row),
    data: withFacts(row, {
      occurred_at: timeIn(row['timestamp']),
      request_id: textIn(row['cid']),
      remote_address: addressIn(row['remote_addr']),
      model,
      action_name: action,
      changed: changed.length > 0 ? changed : undefined,
    }),
    key: keyOf(model, idIn(row['id']), textIn(row['timestamp'])),
  }
}

const ITEM = '**{model}[ {object_repr}| {object_pk}]**'

/**
 * Rows of `LogEntry` of django-auditlog, as `values()` gives them or as the JSON serializer of Django writes them, with natural
 * keys or without. The type is `django:<model>:<action>`, such as `django:shop.product:update`. The model and the user have names
 * if the rows have `content_type__app_label`, `content_type__model` and `actor__username`, or natural keys; otherwise they are ids.
 */
export const djangoAuditlog: Preset = {
  name: 'django-auditlog',
  customTypes: {
    'django:*': {
      label: 'Django',
      sentence:
        `[{action_name=create}created ${ITEM}|{action_name=update}updated ${ITEM}[: {changed}]|{action_name=delete}deleted ${ITEM}|read ${ITEM}]` +
        `| [{action_name=create}${ITEM} was created|{action_name=update}${ITEM} was updated[: {changed}]|{action_name=delete}${ITEM} was deleted|${ITEM} was read]`,
      sentences: {
        de:
          `[{action_name=create}legte ${ITEM} an|{action_name=update}änderte ${ITEM}[: {changed}]|{action_name=delete}löschte ${ITEM}|las ${ITEM}]` +
          `| [{action_name=create}${ITEM} wurde angelegt|{action_name=update}${ITEM} wurde geändert[: {changed}]|{action_name=delete}${ITEM} wurde gelöscht|${ITEM} wurde gelesen]`,
      },
    },
  },
  eventOf,
}
