import { account, may } from '../data/account.js'
import { texts } from '../ui/texts.js'
import { rightsTexts } from './rights-texts.js'

/** Names once the actions that the user may not do. The page does not offer them. */
export function RightsNotice() {
  const sentences = [
    account.value?.restricted && texts.states.restricted,
    !may('count') && rightsTexts.noCounts,
    !may('export') && rightsTexts.noExport,
  ].filter(Boolean)
  if (sentences.length === 0) return null
  return (
    <p class="notice plain" role="status">
      {sentences.join(' ')}
    </p>
  )
}
