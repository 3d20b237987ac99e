import{r as e,t}from"./chunk-QB3YPZ4I-DCEutvP2.js";import"./chunk-TU62E6Q5-UIXSCesN.js";import"./diagram-CJVGn4kd.js";import"./chunk-HFQBQIA3-zgHyZosL.js";import"./chunk-LEVMRMFU-8KW8OgVn.js";import"./chunk-AXFCVDMN-Q_97_JFc.js";import"./chunk-X4PVCEUW-DNB_sNFG.js";import"./chunk-STOXU5M4-Dd7wyOk5.js";import"./chunk-R3KSYZAL-B-4DOX5u.js";import"./chunk-6MUBBAK2-LhB9cfC7.js";import"./chunk-BG4553SI-Cfjn96rh.js";import"./d3-selection-CQOeqU2O.js";import{n}from"./chunk-Y2CYZVJY-DsF7k-Jl.js";var r=t({styles:n(t=>`${e(t)}
  .swimlane.cluster:not([data-color-id]) rect {
    stroke: ${t.clusterBorder} !important;
  }
  [data-look="neo"].cluster rect {
    filter: none;
  }
`,`getStyles`)});export{r as diagram};