import type { Family, SentenceLanguage } from './language.js'

/*
 * English sentences. The sentences of single types are in the registry of event types. See `readTemplate` for the
 * syntax of templates. The page loads this module in one file with its texts, so it imports only types.
 */

const verbs: SentenceLanguage['verbs'] = {
  abort: ['abort', 'aborted'],
  add: ['add', 'added'],
  approve: ['approve', 'approved'],
  archive: ['archive', 'archived'],
  build: ['build', 'built'],
  cancel: ['cancel', 'cancelled'],
  cancelled: ['cancel', 'cancelled'],
  completed: ['finish', 'finished'],
  continue: ['continue', 'continued'],
  create: ['create', 'created'],
  delete: ['delete', 'deleted'],
  deploy: ['deploy', 'deployed'],
  destroy: ['delete', 'deleted'],
  disable: ['disable', 'disabled'],
  disabled: ['disable', 'disabled'],
  enable: ['enable', 'enabled'],
  enabled: ['enable', 'enabled'],
  export: ['export', 'exported'],
  fetch: ['fetch', 'fetched'],
  finish: ['finish', 'finished'],
  import: ['import', 'imported'],
  pause: ['pause', 'paused'],
  publish: ['publish', 'published'],
  refresh: ['refresh', 'refreshed'],
  reject: ['reject', 'rejected'],
  remove: ['remove', 'removed'],
  rename: ['rename', 'renamed'],
  restore: ['restore', 'restored'],
  resume: ['resume', 'resumed'],
  retry: ['retry', 'retried'],
  send: ['send', 'sent'],
  start: ['start', 'started'],
  started: ['start', 'started'],
  stop: ['stop', 'stopped'],
  stopped: ['stop', 'stopped'],
  success: ['finish', 'finished'],
  update: ['update', 'updated'],
}

const REASON = '[: {@reason}]'
const IN_PROJECT = '[ in {@project}]'
const REQUEST = '**{request_method} {@route}**'
const MESSAGE = '[: “{message}”|: “{request_body_message}”]'
const DONE = `{@past} {@thing}${IN_PROJECT} | {@thing} {@past}${IN_PROJECT}`
const STATED = `| {@statement}[ **{name}**| **{code}**]${REASON}`

const families: readonly Family[] = [
  [
    'error:api:controller:unhandled',
    '',
    `hit an error[ at ${REQUEST}]${REASON} | [${REQUEST}|a request] failed${REASON}`,
  ],
  ['error:api:controller:refused', '', `| [${REQUEST}|a request] was refused${REASON}`],
  [
    'warn:audit_log:gap',
    '',
    '| [**{count}** {count:event is/events are}|events are] missing from the log[ since {first_at:time}]',
  ],
  [
    'info:data_cleanup:events',
    '',
    '| [**{removed_count}** {removed_count:event/events}|events][ older than {filters_max_age_days} {filters_max_age_days:day/days}] removed',
  ],
  [
    'info:data_cleanup:statistics',
    '',
    '| query planner statistics [of **{analyzed_tables:count}** {analyzed_tables:table/tables} refreshed|left alone: {skipped_reason}|refreshed]',
  ],
  ['info:data_cleanup:', '', '| [**{removed_count}** ]{@action} removed[ by rule **{rule}**]'],
  [
    'error:data_cleanup:statistics',
    '',
    `| query planner statistics could not be refreshed${REASON}`,
  ],
  ['error:data_cleanup:', '', `| {@action} could not be removed${REASON}`],
  ['api:unmatched:', '', `sent ${REQUEST}, which leads nowhere | ${REQUEST} led nowhere`],
  [
    '',
    ':denied',
    'was not allowed to {@verb} {@thing} | {@thing} could not be {@past}: not allowed',
  ],
  [
    'error:',
    '',
    `could not {@verb} {@thing}${IN_PROJECT}${REASON} | {@thing}${IN_PROJECT} could not be {@past}${REASON}`,
  ],
  ['error:', '', `was refused ${REQUEST}${REASON} | ${REQUEST} was refused${REASON}`],
  ['error:', '', `| {@statement}[ **{name}**| **{code}**] failed${REASON}`],
  ['', ':failed', `| {@thing} failed${REASON}`],
  ['api:', ':error', `| {@thing} failed${REASON}`],
  ['warn:', '', STATED],
  ['warning:', '', STATED],
  [
    '',
    ':update',
    `[changed {@changes} of {@thing}|updated {@thing}]${IN_PROJECT}[: {@fields}] | [{@changes} of {@thing} changed|{@thing} updated]${IN_PROJECT}[: {@fields}]`,
  ],
  ['', ':create', DONE],
  ['', ':destroy', DONE],
  ['', '', `{@past} {@thing}${MESSAGE} | {@thing} {@past}${MESSAGE}`],
  ['', '', STATED],
]

/** The language of sentences by default. */
export const english: SentenceLanguage = {
  tag: 'en',
  quotes: ['“', '”'],
  andMore: 'and more',
  custom: 'custom',
  thing: 'thing',
  fields: 'field/fields',
  verbs,
  families,
  postscript:
    '[{unfinished=true}, left unfinished][{collapsed=true} ({count} times since {first_at:time})][ ({suppressed_count} more suppressed[ since {suppressed_since:time}])]',
  onBehalfOf: (user, other) => `${user} on behalf of ${other}`,
  nounOf: () => undefined,
  ofOwner: (_, words) => `of ${words}`,
  objectOf: (_, words, { isNamed, isPluralOnly }) => {
    if (isNamed) return words
    if (isPluralOnly) return `the ${words}`
    return /^(?:[aeio]|un(?!i))/i.test(words) ? `an ${words}` : `a ${words}`
  },
}
