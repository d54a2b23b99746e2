import type { ResponseObject } from './responses.js'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** An endpoint as a table declares it. The rest follows from its method, its path and its answer: {@link routeFrom}. */
export interface Declared<Parameter extends string, Response extends string, Body extends string> {
  readonly action: string
  /** The action that the host must allow, if it is not `action` itself. */
  readonly right?: EventsAction | undefined
  /** @default the action, as one word */
  readonly operationId?: string
  /** The response that is no error. */
  readonly answer: Response
  /** Parameters of the URL. */
  readonly query?: readonly Parameter[]
  /** Parameters in a body, as a form. */
  readonly form?: readonly Parameter[]
  readonly headers?: readonly Parameter[]
  readonly body?: Body
  /** True if only a user who sees the whole log gets an answer. @default false */
  readonly whole?: boolean
  /** Error statuses that do not follow from the rest. */
  readonly problems?: readonly number[]
  /** The reason why other methods are refused, if the error should say one. */
  readonly others?: string
  /** The first sentence is the summary. */
  readonly text: string
}

/** Endpoints by method and path, which is relative to the mount path. */
export type Table<
  Parameter extends string,
  Response extends string,
  Body extends string,
> = Readonly<Record<`${Method} /${string}`, Declared<Parameter, Response, Body>>>

/** An endpoint with what follows from its kind. */
export interface Route<Action extends string = string> extends Declared<string, string, string> {
  readonly action: Action
  readonly method: Method
  /** Relative to the mount path. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** All parameters that are not in a body. */
  readonly parameters: readonly string[]
  /** Names of responses that are no errors, by status. */
  readonly responses: Readonly<Record<number, string>>
  /** Error statuses in addition to those that every endpoint has. */
  readonly problems: readonly number[]
}

export const EVENTS_ACTIONS = [
  'list',
  'read',
  'create',
  'stream',
  'count',
  'export',
  'types',
  'describe',
  'personal',
] as const

/** An action that the host can allow or deny. */
export type EventsAction = (typeof EVENTS_ACTIONS)[number]

/** The rights that read events. A request for them may have a consistency token, which says how far the log has to be. */
const READING: ReadonlySet<string> = new Set(['list', 'read', 'stream', 'count', 'export'])

/** The id of an operation. `rotateNotificationChannelSecret` would read better, but the action as one word is unique and predictable. */
const oneWord = (action: string): string =>
  action.replaceAll(/[:_](\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * The endpoint of a row, with the parameters and statuses that all endpoints of its kind have:
 * - a path with `{id}`: this parameter, and 404
 * - a document that clients may cache: `If-None-Match`, and 304
 * - a document or a file: 406
 * - a response that has a name for a part of it: 206
 * - a body: 415; one that is no query: 409, 413 and 422 too
 * - events of one log: `Consistency-Token`, and 412
 */
export function routeFrom<Action extends string>(
  key: string,
  row: Declared<string, string, string> & { readonly action: Action },
  named: Readonly<Record<string, ResponseObject>>,
): Route<Action> {
  const [method, path] = key.split(' ') as [Method, string]
  const { action, right = action, body, answer } = row
  const { headers = {}, content } = named[answer]!
  const [summary, ...description] = row.text.split('. ')
  const hasId = path.includes('{id}')
  const isCached = method === 'GET' && 'ETag' in headers
  const isConsistent = READING.has(right)
  const status = 'Location' in headers ? 201 : content ? 200 : 204
  const part = `PartOf${answer}`
  const parameters = [
    ...(hasId ? ['id'] : []),
    ...(row.query ?? []),
    ...(row.headers ?? []),
    ...(isCached ? ['If-None-Match'] : []),
    ...(isConsistent ? ['Consistency-Token'] : []),
  ]
  const problems = [
    400,
    ...(hasId ? [404] : []),
    ...(content ? [406] : []),
    ...(isConsistent ? [412] : []),
    ...(body === undefined ? [] : [409, 413, 415, 422]),
    ...(row.form ? [415] : []),
    ...(row.problems ?? []),
  ]
  return {
    ...row,
    method,
    path: path === '/' ? '' : path,
    operationId: row.operationId ?? oneWord(action),
    summary: summary!,
    description: description.join('. '),
    parameters,
    responses: {
      [status]: answer,
      ...(part in named && { 206: part }),
      ...(isCached && { 304: 'NotModified' }),
    },
    problems: [...new Set(problems)].toSorted((a, b) => a - b),
  }
}

/** The endpoints of a table. `named` are the responses to which it refers. */
export const routesFrom = <Action extends string>(
  table: Readonly<Record<string, Declared<string, string, string> & { readonly action: Action }>>,
  named: Readonly<Record<string, ResponseObject>>,
): readonly Route<Action>[] => Object.entries(table).map(([key, row]) => routeFrom(key, row, named))

/** The action that the host must allow; `undefined` if every authenticated user may do this. */
export const rightOf = ({ action, right }: Route): EventsAction | undefined =>
  right ?? EVENTS_ACTIONS.find((name) => name === action)
