// Annotations of Pascal VOC's form: ImageNet's, odd ones, and what is refused.
#include "trainer/data/prepare/box_xml.h"

#include <gmock/gmock.h>

#include <string>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string corners(const std::string& xmin, const std::string& ymin, const std::string& xmax,
                    const std::string& ymax) {
  return "<bndbox>\n<xmin>" + xmin + "</xmin><ymin>" + ymin + "</ymin><xmax>" + xmax + "</xmax><ymax>" + ymax +
         "</ymax></bndbox>";
}

std::string object(const std::string& inside) { return "<object><name>n01440764</name>" + inside + "</object>"; }

std::string annotation(const std::string& inside) {
  return "<annotation>\n\t<folder>n01440764</folder>\n\t<filename>%s</filename>\n\t"
         "<size><width>400</width><height>200</height><depth>3</depth></size>" +
         inside + "</annotation>\n";
}

std::string refusal(const std::string& xml) {
  try {
    read_annotation(xml);
  } catch (const BadAnnotation& error) {
    return error.what();
  }
  return "";
}

TEST(Annotations, ScaleBoxesByTheSizeThatTheyName) {
  const Annotation found = read_annotation(
      annotation(object(corners("100", "50", "300", "150")) + object(corners("0", "0", "400", "20.5"))));
  EXPECT_THAT(found.boxes, ElementsAre(Box{0.25F, 0.25F, 0.75F, 0.75F}, Box{0, 0, 1, 20.5F / 200}));
  EXPECT_EQ(found.without_area, 0);
}

TEST(Annotations, CutBoxesOffAtTheEdgesAndCountThoseWithoutArea) {
  const Annotation found =
      read_annotation(annotation(object(corners("-8", "50", "500", "1e3")) +     // over the edges
                                 object(corners("300", "150", "100", "50")) +    // corners in the other order
                                 object(corners("100", "50", "100", "150")) +    // a line
                                 object(corners("401", "201", "500", "300"))));  // outside
  EXPECT_THAT(found.boxes, ElementsAre(Box{0, 0.25F, 1, 1}, Box{0.25F, 0.25F, 0.75F, 0.75F}));
  EXPECT_EQ(found.without_area, 2);
}

TEST(Annotations, PassOverWhatElseThereIs) {
  const std::string box = corners("100", "50", "300", "150");
  const std::string inside = "<!-- <object> -->" +
                             object("<pose/><part>" + corners("1", "1", "2", "2") + "</part>" + box) +
                             "<segmented a='>'>0</segmented>";
  EXPECT_THAT(
      read_annotation("\xef\xbb\xbf<?xml version=\"1.0\"?><!DOCTYPE annotation>\r\n" + annotation(inside)).boxes,
      ElementsAre(Box{0.25F, 0.25F, 0.75F, 0.75F}));
  EXPECT_THAT(read_annotation(annotation("")).boxes, IsEmpty());
  EXPECT_THAT(read_annotation("<annotation/>").boxes, IsEmpty());
  EXPECT_THAT(read_annotation("<annotation>" + object("") + "</annotation>").boxes, IsEmpty());
}

TEST(Annotations, ThatAreNoneAreRefused) {
  const std::string box = object(corners("1", "1", "2", "2"));
  EXPECT_THAT(refusal(""), HasSubstr("cut short, or no XML"));
  EXPECT_THAT(refusal("\x1f\x8b\x08"), HasSubstr("no XML"));
  EXPECT_THAT(refusal("<html></html>"), HasSubstr("its root is not one <annotation>"));
  EXPECT_THAT(refusal("<annotation></annotation><annotation></annotation>"), HasSubstr("its root is not one"));
  EXPECT_THAT(refusal("<annotation>" + box + "</annotation>"), HasSubstr("names no <size>"));
  EXPECT_THAT(refusal("<annotation><size><width>0</width><height>5</height></size>" + box + "</annotation>"),
              HasSubstr("names no <size>"));
  EXPECT_THAT(refusal(annotation(object("<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax></bndbox>"))),
              HasSubstr("no <ymax>"));
  for (const char* bad : {"", "1 2", "0x10", "nan", "inf", "1e999", "&#49;"}) {
    EXPECT_THAT(refusal(annotation(object(corners(bad, "1", "2", "2")))), HasSubstr("its <xmin> is no number")) << bad;
  }
  EXPECT_THAT(refusal("<annotation><a></b></annotation>"), HasSubstr("not closed in their order"));
  EXPECT_THAT(refusal("</annotation>"), HasSubstr("not closed in their order"));
  EXPECT_THAT(refusal("<annotation>< /></annotation>"), HasSubstr("a tag without a name"));
  EXPECT_THAT(refusal("<!DOCTYPE annotation [<!ENTITY a \"aa\">]><annotation/>"), HasSubstr("declares entities"));
  EXPECT_THAT(refusal("<annotation><![CDATA[x]]></annotation>"), HasSubstr("CDATA"));
  std::string deep = "<annotation>";
  for (int i = 0; i < 1000; ++i) deep += "<a>";
  EXPECT_THAT(refusal(deep), HasSubstr("nested too deep"));
}

TEST(Annotations, ThatAreCutShortAnywhereAreRefused) {
  const std::string whole = annotation(object(corners("1", "2", "3", "4")));
  const size_t end = whole.rfind('>');
  for (size_t length = 0; length <= end; ++length) EXPECT_NE(refusal(whole.substr(0, length)), "") << length;
}

}  // namespace
}  // namespace trainyard
