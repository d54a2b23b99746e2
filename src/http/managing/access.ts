import type { CallHost } from '../host-calls.js'

/** The resources that a user may do an action with. */
export type Scope = 'own' | 'all' | 'nothing'

/** The host's decision: `true` for resources of the user, `'all'` for resources of all users; any other value refuses. */
export type Authorize<Action extends string, Context> = (
  context: Context,
  action: Action,
) => boolean | 'all' | Promise<boolean | 'all'>

export interface AccessRules<Action extends string, Context> {
  readonly authorize: Authorize<Action, Context> | undefined
  /** The actions that change nothing. Without `authorize` every user may do them. */
  readonly readingActions: ReadonlySet<Action>
}

/** Asks the host, whose errors `callHost` passes on. */
export async function scopeOf<Action extends string, Context>(
  { authorize, readingActions }: AccessRules<Action, Context>,
  action: Action,
  context: Context,
  callHost: CallHost,
): Promise<Scope> {
  if (!authorize) return readingActions.has(action) ? 'own' : 'nothing'
  const answer: unknown = await callHost(() => authorize(context, action))
  if (answer === 'all') return 'all'
  return answer === true ? 'own' : 'nothing'
}
