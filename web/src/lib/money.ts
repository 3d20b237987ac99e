// What something cost, in words.
import { settings } from './settings';

export interface Money {
  amount: number;
  currency: string;
}

/** A sum of money: $0.38, and of what is less than a tenth its first two digits, $0.0012. */
export function money(m: Money): string {
  const locale = settings().language === 'zh' ? 'zh-CN' : 'en';
  const digits =
    m.amount > 0 && m.amount < 0.1
      ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 }
      : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  try {
    return new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: m.currency,
      currencyDisplay: 'narrowSymbol',
      ...digits,
    }).format(m.amount);
  } catch {
    return `${m.amount.toFixed(4)} ${m.currency}`; // no currency that browsers know
  }
}

/** Sums of several currencies; empty where nothing has a price. */
export const moneys = (list: readonly Money[] | null | undefined): string => (list ?? []).map(money).join(' + ');
