import { useSignal } from '@preact/signals'
import { type Channel, rights, save } from '../data/managing.js'
import { showNote } from '../ui/notes.js'
import { texts } from '../ui/texts.js'
import { channelAttributes, ChannelFields, useChannelDraft } from './channel-fields.js'
import { Choice, invalidField, onSubmit, useInvalidFocus } from '../managing/fields.js'
import { managementTexts as words } from './management-texts.js'
import { openPlace } from './place.js'
import { ErrorLine } from '../managing/running.js'
import { useRunning } from './use-running.js'
import { showSecret } from './secrets.js'
import { kindText } from './state-text.js'

interface ChannelFormProps {
  /** The channel to change; `undefined` to create one. */
  readonly present?: Channel
  readonly close?: () => void
}

export function ChannelForm({ present, close = () => openPlace('channels') }: ChannelFormProps) {
  const { kinds = [] } = rights.value ?? {}
  const kind = useSignal(present?.kind ?? kinds[0] ?? '')
  const draft = useChannelDraft(present)
  const { error, run } = useRunning()
  const form = useInvalidFocus(error)
  const submit = onSubmit(
    () =>
      void run(async () => {
        const attributes = channelAttributes(kind.value, draft, present)
        const saved = await save('channels', present?.id, attributes)
        showSecret(saved)
        showNote((present ? words.channels.saved : words.channels.created)(saved.name))
        return present ? close : () => openPlace('channels', saved.id)
      }),
  )
  return (
    <form class="managed-form" ref={form} onSubmit={submit}>
      {!present && kinds.length > 1 && (
        <Choice
          label={words.channels.kind}
          name="kind"
          chosen={kind.value}
          choose={(name) => (kind.value = name)}
          options={kinds.map((name) => [name, kindText(name)])}
        />
      )}
      <ChannelFields
        key={kind.value}
        kind={kind.value}
        draft={draft}
        {...(present && { present })}
        invalid={invalidField(error)}
      />
      <ErrorLine error={error} />
      <div class="managed-actions">
        <button type="submit" class="btn main">
          {present ? words.save : words.channels.create}
        </button>
        <button type="button" class="btn" onClick={close}>
          {texts.common.cancel}
        </button>
      </div>
    </form>
  )
}
