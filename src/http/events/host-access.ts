import type { Grouping } from '../../filter/ast.js'
import { parseVisible } from '../../filter/visible-filter.js'
import type { CallHost } from '../host-calls.js'
import type { EventsAccess } from './access.js'
import type { EventsAction } from './routes.js'

/** The host's answers about one request. */
export interface HostAccess {
  readonly may: (action: EventsAction) => Promise<boolean>
  /** Filter for the events that the user may see; `undefined` if all are visible. */
  readonly visible: () => Promise<Grouping | undefined>
}

/** Only an absent option allows everything; of the answers of `authorize`, only `true`. */
export const hostAccess = <Context>(
  { authorize, visible }: Pick<EventsAccess<Context>, 'authorize' | 'visible'>,
  context: Context,
  callHost: CallHost,
): HostAccess => ({
  async may(action) {
    if (!authorize) return true
    const answer: unknown = await callHost(() => authorize(context, action))
    return answer === true
  },
  visible: async () => visible && callHost(async () => parseVisible(await visible(context))),
})
