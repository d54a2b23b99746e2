import { type Case, cases } from './context.js'
import { draft, drafts, imported, recordSome, rejectsWith } from './helpers.js'

export const closeCases: readonly Case[] = [
  ...cases({
    async 'close: later calls reject, and a second close is safe'({ store, audit }) {
      const [event] = await recordSome(audit, 1)
      await audit.close()
      await store.close()
      const query = { where: undefined, sorts: [], limit: 1 }
      await rejectsWith(store.append([]), 'CLOSED')
      await rejectsWith(store.append(drafts(1)), 'CLOSED')
      await rejectsWith(store.list(query), 'CLOSED')
      await rejectsWith(audit.count(), 'CLOSED')
      await rejectsWith(audit.count('', { attributes: true }), 'CLOSED')
      await rejectsWith(store.get('x'), 'CLOSED')
      await rejectsWith(store.get(event!.id), 'CLOSED')
      await rejectsWith(store.importEvents([]), 'CLOSED')
      await rejectsWith(store.removeBefore(0), 'CLOSED')
      await rejectsWith(store.remove([event!.id]), 'CLOSED')
      await rejectsWith(store.excess({}), 'CLOSED')
      const report = { reporter: 'one', number: 1, counts: [] }
      await rejectsWith(store.reportSuppressed(report), 'CLOSED')
      await rejectsWith(
        store.recordSuppressed(() => draft({})),
        'CLOSED',
      )
      await rejectsWith(
        store.updateState('a', () => 1),
        'CLOSED',
      )
      await rejectsWith(
        store.updateStates(['a'], (values) => values),
        'CLOSED',
      )
      await rejectsWith(store.readStates('', { limit: 1 }), 'CLOSED')
      await rejectsWith(store.changeLive(event!.id, { revision: 1 }), 'CLOSED')
      await rejectsWith(store.touchLive([]), 'CLOSED')
      await rejectsWith(store.closeLive(event!.id, { revision: 1 }), 'CLOSED')
      await rejectsWith(store.openEvents(), 'CLOSED')
      if (store.health) await rejectsWith(store.health(), 'CLOSED')
      if (store.analyze) await rejectsWith(store.analyze(), 'CLOSED')
      if (store.scrub) await rejectsWith(store.scrub(), 'CLOSED')
      await rejectsWith(audit.recordCustom('own'), 'CLOSED')
      await rejectsWith(audit.importEvents([imported()]), 'CLOSED')
      await rejectsWith(audit.list(), 'CLOSED')
    },

    async 'close: an unused store can be closed twice at once'({ store }) {
      await Promise.all([store.close(), store.close()])
      await rejectsWith(store.append([]), 'CLOSED')
    },
  }),

  ...cases(
    {
      async 'close: a closed store refuses to enlist'({ store, audit, transaction }) {
        await recordSome(audit, 1)
        const { handle, rollback } = await transaction()
        await audit.close()
        await rejectsWith(store.enlist!(draft({ n: 1 }), handle), 'CLOSED')
        await rollback()
      },
    },
    'transaction',
  ),
]
