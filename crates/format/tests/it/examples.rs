//! The examples of templates.md, each rendered and decoded.

use sequent_format::{ObfuscationKey, Settings, Unique};

use crate::support::{SHANGHAI, context, values, with, zone};

/// A template with a request and the expected result.
struct Example {
    template: &'static str,
    at: &'static str,
    values: &'static str,
    number: u64,
    text: &'static str,
    period: &'static str,
}

const fn example(
    template: &'static str,
    at: &'static str,
    values: &'static str,
    number: u64,
    text: &'static str,
    period: &'static str,
) -> Example {
    Example { template, at, values, number, text, period }
}

/// The instant for templates without a date.
const NOW: &str = "2026-06-15T12:00:00+08:00";

/// All examples but 16, 19 and 20, which need settings.
const EXAMPLES: [Example; 19] = [
    example(
        "@{date,yyyyMMdd}@{seq,order,w=5}",
        "2017-03-04T00:00:00+08:00",
        "",
        1,
        "2017030400001",
        "20170304",
    ),
    example(
        "@{ctx,area,len=3}-@{ctx,office,len=4}-@{seq,repair,w=5}",
        NOW,
        "area=010 office=6541",
        1,
        "010-6541-00001",
        "",
    ),
    example("QJ@{seq,leave,w=6}", NOW, "", 1, "QJ000001", ""),
    example(
        "@{ctx,prefix,len=1}@{date,yyMMdd}@{ctx,infix,len=1}@{seq,doc,w=6}@{ctx,suffix,len=1}",
        "2011-01-29T10:00:00+08:00",
        "prefix=P infix=M suffix=S",
        1,
        "P110129M000001S",
        "20110129",
    ),
    example(
        "@{ownerKey,value=SN}-@{bean,ref=sequence,id=s,w=8}-@{check,damm,over=s}",
        NOW,
        "",
        572,
        "SN-00000572-4",
        "",
    ),
    example(
        "@{var,createSite,re=[0-9]+}-@{var,receiveSite,re=[0-9]+}-@{date,yyyyMMddHH}@{seq,send,w=7,reset=hour}",
        "2020-03-20T14:05:00+08:00",
        "createSite=910 receiveSite=364605",
        1,
        "910-364605-20200320140000001",
        "2020032014",
    ),
    example("INV/@{date,yyyy}/@{seq,inv,w=4}", "2016-07-01T00:00:00+08:00", "", 10, "INV/2016/0010", "2016"),
    example(
        "SINV-@{ctx,abbr,re=[A-Z0-9]+}-@{date,yy}-@{seq,sinv,w=4}",
        NOW,
        "abbr=DM1",
        1,
        "SINV-DM1-26-0001",
        "2026",
    ),
    example("@{ctx,entity,re=[A-Z]+}-EXPENSE-@{seq,exp,w=4}", NOW, "entity=CS", 39, "CS-EXPENSE-0039", ""),
    example("FA@{date,yyMM}-@{seq,fa,w=4,reset=year}", NOW, "", 851, "FA2606-0851", "2026"),
    example(
        "@{date,yyyyMMdd}10@{seq,ticket,w=5}@{check,otrs}",
        "2002-06-23T08:00:00+08:00",
        "",
        10001,
        "2002062310100011",
        "20020623",
    ),
    example(
        "RR@{seq,s10,id=n,w=8,over=error}@{check,s10,over=n}GB",
        NOW,
        "",
        47_312_482,
        "RR473124829GB",
        "",
    ),
    example("10614141@{seq,sscc,w=9,over=error}@{check,gs1}", NOW, "", 234_567_890, "106141412345678908", ""),
    example("RF@{check,rf,over=n}@{seq,rf,id=n,w=12}", NOW, "", 539_007_547_034, "RF18539007547034", ""),
    example(
        "@{ctx,region,len=6}@{date,yyyyMMdd,at=birth}@{seq,w=3,over=error}@{check,mod11-2}",
        NOW,
        "region=110105 birth=1949-12-31",
        2,
        "11010519491231002X",
        "",
    ),
    example(
        "@{date,GGGG-'W'WW}-@{seq,plan,w=3}",
        "2027-01-03T12:00:00+08:00",
        "",
        1,
        "2026-W53-001",
        "2026W53",
    ),
    example(
        "@{date,yy}@{ctx,prov,len=2}@{ctx,chan,len=1}@{seq,fp,w=15,over=error}",
        "2024-05-01T00:00:00+08:00",
        "prov=44 chan=2",
        12_345_678,
        "24442000000012345678",
        "2024",
    ),
    example("C@{seq,cp,id=c,w=4,radix=32c}@{check,crockford,over=c}", NOW, "", 1234, "C016JD", ""),
    example("LN@{seq,x,w=3,radix=36}", NOW, "", 46655, "LNZZZ", ""),
];

fn holds(example: &Example, settings: Settings) {
    let format = with(example.template, settings);
    let context = context(&format, example.at, example.values);
    assert_eq!(context.text(example.number).unwrap(), example.text, "{}", example.template);
    assert_eq!(context.period(), example.period, "{}", example.template);
    let parsed = format.decode(example.text).unwrap();
    assert_eq!(parsed.number, example.number, "{}", example.template);
    assert_eq!(parsed.period.as_deref(), Some(example.period), "{}", example.template);
    let partition: Vec<(&str, &str)> = context.partition().collect();
    let read: Vec<(&str, &str)> = parsed.partition.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(read, partition, "{}", example.template);
    let preview =
        format.preview(example.number, example.at.parse().unwrap(), &values(example.values)).unwrap();
    assert_eq!(preview.to_string(), example.text);
}

#[test]
fn examples_with_default_settings() {
    for example in &EXAMPLES {
        holds(example, zone(SHANGHAI));
    }
}

#[test]
fn example_16_fits_sixteen_characters() {
    let gst = example(
        "INV/@{date,FS-FE,fy=04-01}/@{seq,gst,w=6,over=error}",
        "2026-04-01T00:00:00+05:30",
        "",
        1,
        "INV/26-27/000001",
        "FY2027",
    );
    let settings = Settings { maxlen: 16, charset: "A-Z0-9/-".into(), ..zone("Asia/Kolkata") };
    holds(&gst, settings.clone());
    let format = with(gst.template, settings);
    assert_eq!((format.max_len(), format.min_len()), (16, 16));
    let error = context(&format, gst.at, "").text(1_000_000).unwrap_err().to_string();
    assert_eq!(error, "number is 1000000: the template has texts up to 999999");
}

#[test]
fn example_19_wraps_within_a_day() {
    let settings = Settings { unique: Unique::Period, ..zone(SHANGHAI) };
    let format = with("@{ctx,win,len=1}@{seq,queue,w=3,over=wrap,reuse_after=1d,reset=day}", settings);
    let context = context(&format, NOW, "win=A");
    assert_eq!(context.text(1000).unwrap(), "A001");
    assert_eq!(context.period(), "20260615");
    let parsed = format.decode("A001").unwrap();
    assert_eq!((parsed.number, parsed.period), (1, None), "the first round; the text shows no day");
}

#[test]
fn example_20_is_a_sample_of_nist() {
    let key =
        [0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C];
    let keys = [("k1".to_owned(), ObfuscationKey::new(&key).unwrap())].into();
    let settings = Settings { keys, ..zone(SHANGHAI) };
    let waybill = example("W@{seq,wb,w=10,obf=ff1:k1}", NOW, "", 123_456_789, "W2433477484", "");
    holds(&waybill, settings.clone());
    // The tweak is the counter's key: `0:|8:20260615|` without a name, as in older definitions, and `7:waybill|0:|` with a name. The
    // texts come from another implementation of FF1. The tweak must never change, or texts in use could not be decoded.
    let daily = with("W@{date,yyyyMMdd}@{seq,wb,w=10,obf=ff1:k1}", settings.clone());
    assert_eq!(context(&daily, NOW, "").text(123_456_789).unwrap(), "W202606154837721047");
    let named = with(waybill.template, Settings { name: "waybill".into(), ..settings });
    assert_eq!(context(&named, NOW, "").text(123_456_789).unwrap(), "W9104135998");
    assert_eq!(named.decode("W9104135998").unwrap().number, 123_456_789);
}

#[test]
fn example_22_widens() {
    let format = with(EXAMPLES[18].template, zone(SHANGHAI));
    assert_eq!(context(&format, NOW, "").text(46656).unwrap(), "LN1000");
    assert_eq!(format.decode("LN1000").unwrap().number, 46656);
}

/// The check digit of an older rule engine is over the number alone, whatever stands before it.
#[test]
fn a_template_of_an_older_rule_engine_renders_as_it_did() {
    let class = "com.jd.coo.sa.sn.expression.CheckSumExpression";
    for start in ["@{ownerKey, value=SN}-", "@{ownerKey, value=SN}2026-"] {
        let format = with(&format!("{start}@{{bean, ref=sequence}}-@{{{class}}}"), zone("UTC"));
        for number in [1_u64, 4, 572, 48231] {
            let text = context(&format, NOW, "").text(number).unwrap();
            let literal = start.replace("@{ownerKey, value=SN}", "SN");
            assert_eq!(text, format!("{literal}{number}-{}", number * 9 % 31 % 10));
            assert_eq!(format.decode(&text).unwrap().number, number);
        }
    }
}

#[test]
fn a_value_of_the_template_is_a_text_that_a_check_may_read() {
    let format = with("@{site, value=31}@{seq,w=3,over=error}@{check,plain,over=site+seq}", zone("UTC"));
    assert_eq!(context(&format, NOW, "").text(7).unwrap(), "310071");
    let twice = sequent_format::Template::parse("@{site,value=A}@{site,value=B}@{seq}").unwrap_err();
    assert!(twice.to_string().contains("\"site\" is given twice"), "{twice}");
    // Another argument beside the value is no value of the template.
    assert!(sequent_format::Template::parse("@{site,value=A,len=1}@{seq}").is_err());
}

#[test]
fn older_spellings_are_the_same_template() {
    let pairs = [
        ("@{bean,ref=order,w=5}", "@{seq,order,w=5}"),
        ("@{ownerKey,value=SN}@{seq}", "@{key,SN}@{seq}"),
        ("@{var,area,len=3}@{seq}", "@{ctx,area,len=3}@{seq}"),
        ("X@{seq}@{mod,by=97}", "X@{seq}@{fn,mod,by=97}"),
    ];
    for (older, newer) in &pairs[..3] {
        let text = |template| {
            context(&with(template, zone("UTC")), NOW, if newer.contains("area") { "area=010" } else { "" })
                .text(7)
        };
        assert_eq!(text(older), text(newer));
    }
    // A lower-case name is not a class name.
    assert!(sequent_format::Template::parse(pairs[3].0).is_err());
}
