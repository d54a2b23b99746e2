import { fault, managed, openManaged } from '../data/address.js'
import { may } from '../data/managing.js'
import { texts } from '../ui/texts.js'

/** Links to a subscription for the shown filter, and to all subscriptions. Empty if the user may not use them. */
export function SubscribeLinks() {
  const link = (text: string, place: string) => (
    <button
      type="button"
      class="link subscribe"
      aria-expanded={managed.value === place}
      onClick={() => openManaged(managed.value === place ? undefined : place)}
    >
      {text}
    </button>
  )
  return (
    <>
      {may('subscriptions:create') &&
        !fault.value &&
        link(texts.chart.subscribe, 'subscriptions=new')}
      {may('subscriptions:list') && link(texts.chart.subscriptions, 'subscriptions')}
    </>
  )
}
