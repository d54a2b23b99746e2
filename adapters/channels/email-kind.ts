import type { ChannelKind } from '../../src/subscriptions/channel-kind.js'
import { emailChannel, type EmailOptions, readSubject } from './email.js'
import { changedConfig, invalidChannel } from './kind-config.js'
import { readRecipients, readSender } from './mail-addresses.js'
import { openTransport } from './mail-transport.js'
import { checkDelivery, invalidOption } from './read-options.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

export type EmailKindOptions = Omit<EmailOptions, 'to' | 'subject'>

const EMAIL_KIND_OPTIONS: OptionNames<EmailKindOptions> = {
  transport: true,
  from: true,
  batch: true,
  rate: true,
  render: true,
}

const MEMBERS = ['to', 'subject']

/**
 * E-mail channels that users create at run time. Their `config` has `to`, an address or a list of addresses, and
 * `subject`, as the options of `email`. Throws `INVALID_OPTION`, and `MISSING_DEPENDENCY` if nodemailer is needed and
 * is not installed.
 */
export function emailKind(options: EmailKindOptions): ChannelKind {
  requireOptions(options, EMAIL_KIND_OPTIONS, 'emailKind')
  checkDelivery(options, 'emailKind')
  const from = readSender(options.from, invalidOption('emailKind'))
  const transport = openTransport(options.transport)
  const { batch, rate, render } = options
  return {
    read(given, present) {
      const config = changedConfig(given, present, MEMBERS)
      const to = readRecipients(config['to'], invalidChannel)
      readSubject(config['subject'], invalidChannel)
      return { config: { ...config, to: [...to] }, secrets: {} }
    },
    open({ config }) {
      const to = readRecipients(config['to'], invalidChannel)
      const subject = readSubject(config['subject'], invalidChannel)
      return emailChannel({ transport, from, to, subject, batch, rate, render })
    },
  }
}
