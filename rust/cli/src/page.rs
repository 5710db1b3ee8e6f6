//! Pages that load nothing else, for a light and a dark screen.

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:88rem;margin:2rem auto;padding:0 1rem;\
color:#1d2530;background:#fff}p{max-width:76rem}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\
.scroll{overflow-x:auto}\
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .7rem;border-bottom:1px solid #d9dfe6;\
text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}thead th{color:#4d5a69;font-size:.85rem}\
th:first-child,th:last-child,td:last-child{text-align:left}th[scope=row]{font-weight:500;white-space:normal}\
.bar{display:inline-block;width:8rem;height:.7rem;background:#2f7d4f;vertical-align:middle}\
.bar i{display:block;height:100%;margin-left:auto;background:#d08a1d}.note{color:#4d5a69}.text{text-align:left}\
.share{display:inline-block;width:6rem;height:.7rem;margin-left:.6rem;text-align:left;vertical-align:middle}\
.share i{display:block;height:100%;background:#8a97a5}.orange i{background:#d08a1d}.green i{background:#2f7d4f}\
.figures th,.figures th:last-child,.figures td:last-child{text-align:right}.figures th:first-child{text-align:left}\
@media(prefers-color-scheme:dark){body{color:#dce3ea;background:#161b21}th,td{border-color:#333d48}\
thead th,.note{color:#9aa8b7}}";

/// `body` is what stands below the title, in HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )
}
