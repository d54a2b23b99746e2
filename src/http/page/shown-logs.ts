import type { Language } from '../../describing/language.js'
import { isKey } from '../../store/log-stores.js'
import type { HttpRequest } from '../exchange.js'
import { MAX_LOGS } from '../openapi/parameters.js'
import { escapeHtml } from './escape-html.js'

/* The page of chosen logs: `<page>/logs/<key>,<key>`, so every link within it keeps the logs. */

export interface ShownLogs {
  readonly keys: readonly string[]
  /** The keys as in paths: percent-encoded, separated by commas. */
  readonly text: string
}

const PREFIX = 'logs/'

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** The logs of a path below the page; `undefined` for other paths. */
export function readShownLogs(under: string): ShownLogs | undefined {
  if (!under.startsWith(PREFIX)) return undefined
  const keys = [...new Set(under.slice(PREFIX.length).split(',').map(decodeKey))]
  if (keys.length > MAX_LOGS || !keys.every(isKey)) return undefined
  return { keys, text: keys.map(encodeURIComponent).join() }
}

/** The feed of the shown logs, or the path of the endpoints by which the user chooses some. */
export const apiOfLogs = (
  path: string,
  shown: ShownLogs | undefined,
): Readonly<Record<'api' | 'logs' | 'keys', string | undefined>> =>
  shown
    ? { api: `${path}/${shown.text}/events`, logs: undefined, keys: shown.text }
    : { api: path, logs: path, keys: undefined }

/** Columns of several logs: each row begins with its log. */
const COLUMNS = 'columns=log_key,who,what,type,source'

/** The address with columns, if several logs are shown and it has none. */
export function redirectToColumns(
  { path, query }: HttpRequest,
  { keys }: ShownLogs,
): string | undefined {
  if (keys.length === 1 || /(?:^|&)(?:columns|resource)=/.test(query)) return undefined
  return `${path}?${query === '' ? '' : `${query}&`}${COLUMNS}`
}

const TEXTS: Readonly<Record<Language, { readonly logs: string; readonly change: string }>> = {
  en: { logs: 'Logs', change: 'Choose logs' },
  de: { logs: 'Protokolle', change: 'Protokolle auswählen' },
}

/** The document with the names of the logs above the events, and a link to choose others; unchanged without logs. */
export function withLogsLink(
  document: string,
  shown: ShownLogs | undefined,
  { language = 'en', mount = '' }: Readonly<Record<string, string | undefined>>,
): string {
  if (!shown) return document
  const { logs, change } = TEXTS[language as Language]
  const href = `${mount}?selected=${encodeURIComponent(shown.text)}`
  // Braces would be taken for placeholders of the document.
  const names = escapeHtml(shown.keys.join(', ')).replaceAll('{', '&#123;')
  const nav =
    `<nav class="logs-nav" lang="${language}" aria-label="${logs}"><b title="${names}">${names}</b>` +
    `<a class="link" href="${escapeHtml(href)}">${change}</a></nav>`
  // After the page, whose first link skips to its content; the style sheet shows it above.
  return document.replace('<div id="app"></div>', (app) => app + nav)
}
