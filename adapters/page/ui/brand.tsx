import { hostName, logoPath, productName } from '../data/config.js'
import { Icon } from './icon.js'
import { texts } from './texts.js'

/** The product and the service, with the image of the host or the logo of Daybook. */
export function Brand() {
  return (
    <>
      {logoPath === '' ? <Icon name="logo" className="" /> : <img src={logoPath} alt="" />}
      <span>
        <span class="brand-name">{productName || texts.bar.product}</span>
        <span class="brand-host">{hostName}</span>
      </span>
    </>
  )
}
