import { account } from '../data/account.js'
import { fault, query } from '../data/address.js'
import { apiPath } from '../data/config.js'
import { curlLine } from '../data/curl-command.js'
import { apiQuery } from '../data/query.js'
import { copyText } from '../ui/copy-text.js'
import { absoluteAddress } from './absolute-link.js'

export const copyLink = (): Promise<void> => copyText(absoluteAddress())

export async function copyCurl(): Promise<void> {
  if (fault.value) return
  const filter = apiQuery(query.value).replaceAll(/%(?:3A|2F|2C|40)/g, decodeURIComponent)
  const url = [location.origin + apiPath, filter].filter(Boolean).join('?')
  await copyText(curlLine(account.value?.username, url))
}
